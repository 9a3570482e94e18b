"""The messages for a Prometheus that takes native histograms, read by the library for protocol buffers."""

import struct
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.empty_pb2 import Empty
from google.protobuf.unknown_fields import UnknownFieldSet

from cuesta.publish.buckets import EDGES, SCALE
from cuesta.publish.metrics import Metrics
from cuesta.publish.native_histograms import encode, is_asked_for
from tests.publish.observed import seen, take

NAME, VALUES = 1, 4
"""Fields of a MetricFamily."""


def fields(message: bytes) -> dict[int, list[Any]]:
    """The fields of any message, by number."""
    read, found = Empty(), defaultdict(list)
    read.ParseFromString(message)
    for field in UnknownFieldSet(read):
        found[field.field_number].append(field.data)
    return found


def real(bits: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<Q", bits))
    return float(number)


def signed(zigzag: int) -> int:
    return (zigzag >> 1) ^ -(zigzag & 1)


def families(body: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """The names of all families, and their values."""
    while body:
        length = shift = 0
        while True:
            byte, body = body[0], body[1:]
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        family = fields(body[:length])
        yield family[NAME][0].decode(), family[VALUES]
        body = body[length:]


@pytest.fixture
def found() -> dict[str, list[bytes]]:
    metrics = Metrics("a run")
    take(metrics, seen({"editors/save/response": [0.0, 0.001, 0.2, 0.2, 100.0]}, doing={"keying": 3}))
    return dict(families(encode(metrics)))


def test_a_histogram_has_native_and_explicit_buckets_of_all_durations(found: dict[str, list[bytes]]) -> None:
    (value,) = found["cuesta_response_duration_seconds"]
    (histogram,) = map(fields, fields(value)[7])
    assert histogram[1] == [5]
    assert real(histogram[2][0]) == pytest.approx(100.401, rel=0.001)
    buckets = [fields(bucket) for bucket in histogram[3]]
    assert [real(bucket[2][0]) for bucket in buckets] == [*EDGES]
    counts = [bucket[1][0] for bucket in buckets]
    assert (counts[0], counts[-1]) == (1, 4), "0 is in the first, 100 s in none but the last, which is not written"
    assert {at: counts[next(n for n, edge in enumerate(EDGES) if edge >= at * 1.001)] for at in (0.001, 0.2)} == {
        0.001: 2,
        0.2: 4,
    }
    assert (signed(histogram[5][0]), histogram[7]) == (SCALE, [1])
    (span,) = map(fields, histogram[12])
    deltas = [*map(signed, histogram[13])]
    assert span[2] == [len(deltas)]
    native, known = {}, 0
    for number, delta in enumerate(deltas):
        known += delta
        if known:
            native[2 ** ((signed(span[1][0]) + number) / 2**SCALE)] = known
    assert [*native.values()] == [1, 2, 1]
    assert [*native] == pytest.approx([0.001, 0.2, 100.0], rel=0.011)


def test_labels_counters_and_gauges_are_those_of_the_text(found: dict[str, list[bytes]]) -> None:
    (errors,), (users,) = found["cuesta_errors_total"], found["cuesta_users"]
    (label,) = map(fields, fields(errors)[1])
    assert (label[1], label[2]) == ([b"error_type"], [b"refused"])
    (counter,), (gauge,) = map(fields, fields(errors)[3]), map(fields, fields(users)[2])
    assert (real(counter[1][0]), real(gauge[1][0])) == (2, 3)
    assert "target_info" in found
    assert "cuesta_host_cpu_ratio" not in found, "a family has a value"


def test_only_who_prefers_these_messages_gets_them() -> None:
    assert is_asked_for(b"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily,text/plain;q=0.5")
    assert not is_asked_for(b"text/plain;q=0.6,application/vnd.google.protobuf;q=0.5")
    assert not is_asked_for(b"")
