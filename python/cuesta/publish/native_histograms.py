"""Writes metrics for a Prometheus that takes native histograms: protocol buffers, a message for each metric.

The messages are those of `io.prometheus.client` (github.com/prometheus/client_model, metrics.proto). A histogram has
native and explicit buckets: a server without native histograms takes the latter.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence

from cuesta._native import Histogram
from cuesta.publish.buckets import (
    EDGES,
    SCALE,
    cumulative_counts,
    exponential_buckets,
    total_seconds,
)
from cuesta.publish.instruments import DURATIONS, NUMBERS, Number, describe, label, prometheus_name
from cuesta.publish.metrics import Metrics

MEDIA = b"application/vnd.google.protobuf"
CONTENT_TYPE = MEDIA + b"; proto=io.prometheus.client.MetricFamily; encoding=delimited"
COUNTER, GAUGE, HISTOGRAM = 0, 1, 4
"""Types of metrics."""
OF_GAUGE, OF_COUNTER, OF_HISTOGRAM = 2, 3, 7
"""The fields of a Metric."""
BOUNDED = tuple(struct.pack("<Bd", 2 << 3 | 1, edge) for edge in EDGES)
"""The field `upper_bound` of each explicit bucket."""


def is_asked_for(accept: bytes) -> bool:
    """Whether a scraper prefers protocol buffers: Prometheus lists what it accepts by preference."""
    return accept.partition(b",")[0].partition(b";")[0].strip() == MEDIA


def encode(metrics: Metrics) -> bytes:
    """All metrics: messages `MetricFamily`, each after its length."""
    families = [*_duration_families(metrics), *_number_families(metrics), _target_info(metrics)]
    return b"".join(_varint(len(family)) + family for family in families)


def _target_info(metrics: Metrics) -> bytes:
    value = _metric(["cuesta_run_id"], [metrics.run_id], OF_GAUGE, _double(1, 1))
    return _family("target_info", "Target metadata", GAUGE, [value])


def _number_families(metrics: Metrics) -> Iterator[bytes]:
    for number in NUMBERS:
        if values := [_number(number, attributes, value) for attributes, value in number.read(metrics)]:
            kind = COUNTER if number.is_count else GAUGE
            yield _family(prometheus_name(number), describe(number), kind, values)


def _number(number: Number, attributes: Sequence[str], value: float) -> bytes:
    kind = OF_COUNTER if number.is_count else OF_GAUGE
    return _metric([*map(label, number.attributes)], attributes, kind, _double(1, value))


def _duration_families(metrics: Metrics) -> Iterator[bytes]:
    durations = metrics.durations()
    for instrument in DURATIONS:
        labels = [*map(label, instrument.attributes)]
        values = [
            _metric(labels, [which.group, which.transaction], OF_HISTOGRAM, _histogram(histogram))
            for which, histogram in durations.items()
            if which.figure == instrument.figure
        ]
        if values:
            yield _family(prometheus_name(instrument), describe(instrument), HISTOGRAM, values)


def _histogram(histogram: Histogram) -> bytes:
    buckets, before = exponential_buckets(histogram), 0
    deltas = bytearray()
    for count in buckets.counts:
        deltas += _unsigned(13, _zigzag(count - before))
        before = count
    # A bucket's index is here that of its upper edge. One span has all buckets.
    span = _unsigned(1, _zigzag(buckets.first + 1)) + _unsigned(2, len(buckets.counts))
    native = _unsigned(5, _zigzag(SCALE)) + _unsigned(7, buckets.zeros) + _bytes(12, span) + bytes(deltas)
    return _unsigned(1, histogram.count) + _double(2, total_seconds(histogram)) + _explicit(histogram) + native


def _explicit(histogram: Histogram) -> bytes:
    counts = cumulative_counts(histogram)  # the last is of all; without a bucket the server knows it
    return b"".join(_bytes(3, _unsigned(1, count) + edge) for count, edge in zip(counts, BOUNDED, strict=False))


def _family(name: str, meaning: str, kind: int, values: Iterable[bytes]) -> bytes:
    about = _bytes(1, name.encode()) + _bytes(2, meaning.encode()) + _unsigned(3, kind)
    return about + b"".join(_bytes(4, value) for value in values)


def _metric(labels: Sequence[str], values: Sequence[str], kind: int, value: bytes) -> bytes:
    pairs = (_bytes(1, name.encode()) + _bytes(2, text.encode()) for name, text in zip(labels, values, strict=True))
    return b"".join(_bytes(1, pair) for pair in pairs) + _bytes(kind, value)


def _unsigned(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _double(field: int, number: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", number)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else (-number << 1) - 1


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
