"""Buckets for other programs keep each count, and each quantile to the width of one bucket."""

import math
from bisect import bisect_right
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta._native import Histogram
from cuesta.publish.buckets import EDGES, SCALE, cumulative_counts, exponential_buckets, total_seconds, upper_edges
from tests.hdr import encode

DIGITS = 1.001
"""A counter of the driver's histogram is at most 0.1 % wide."""
WIDTH = 2**2**-SCALE

durations = st.lists(st.integers(0, 200_000_000_000), min_size=1, max_size=60).map(
    lambda values: sorted(value / 1e9 for value in values)
)
shares = st.floats(0.001, 1.0)


def decode(values: Sequence[float]) -> Histogram:
    return Histogram.decode(encode(values))


@given(durations)
def test_explicit_buckets_count_each_duration_once(values: Sequence[float]) -> None:
    counts = cumulative_counts(decode(values))
    assert counts[-1] == len(values)
    assert len(counts) == len(EDGES) + 1
    for edge, count in zip(EDGES, counts, strict=False):
        assert bisect_right(values, edge / DIGITS) <= count <= bisect_right(values, edge * DIGITS)


@given(durations, shares)
def test_explicit_buckets_find_each_quantile_within_two_percent(values: Sequence[float], share: float) -> None:
    histogram = decode(values)
    true = histogram.quantile(share)
    counts = cumulative_counts(histogram)
    bucket = next(number for number, count in enumerate(counts) if count >= math.ceil(share * len(values)))
    if 0 < bucket < len(EDGES):  # else it is outside of the range that has buckets
        assert EDGES[bucket - 1] < true <= EDGES[bucket]
        assert EDGES[bucket] / EDGES[bucket - 1] < 1.02


def test_explicit_buckets_reach_from_the_quickest_echo_to_a_minute() -> None:
    assert EDGES[0] == pytest.approx(2e-5)
    assert EDGES[-1] > 60


@given(durations)
def test_exponential_buckets_count_each_duration_once(values: Sequence[float]) -> None:
    histogram = decode(values)
    buckets = exponential_buckets(histogram)
    assert buckets.zeros == values.count(0.0)
    assert buckets.zeros + sum(buckets.counts) == histogram.count == len(values)
    for number, edge in enumerate(upper_edges(buckets)):
        known = buckets.zeros + sum(buckets.counts[: number + 1])
        assert bisect_right(values, edge / DIGITS) <= known <= bisect_right(values, edge * DIGITS)


@given(durations, shares)
def test_exponential_buckets_keep_each_quantile_to_one_percent(values: Sequence[float], share: float) -> None:
    histogram = decode(values)
    true, rank = histogram.quantile(share), math.ceil(share * len(values))
    buckets = exponential_buckets(histogram)
    known = buckets.zeros
    for edge, count in zip(upper_edges(buckets), buckets.counts, strict=True):
        known += count
        if known >= rank > known - count:
            assert edge / WIDTH * (1 - 1e-12) <= true <= edge * (1 + 1e-12)
    assert known == len(values)


def test_a_power_of_two_is_the_upper_edge_of_its_bucket() -> None:
    """As OpenTelemetry has it: a bucket is open below and closed above."""
    (index,) = {exponential_buckets(decode([0.25])).first}
    # The driver's counter of 250 ms ends just above it.
    assert index == -2 * 2**SCALE
    below = exponential_buckets(decode([0.2495])).first
    assert below == -2 * 2**SCALE - 1


def test_buckets_of_no_durations_are_empty() -> None:
    nothing = exponential_buckets(decode([0.0]))
    assert (nothing.zeros, nothing.counts) == (1, [])


@given(durations)
def test_the_sum_is_that_of_all_durations(values: Sequence[float]) -> None:
    assert total_seconds(decode(values)) == pytest.approx(sum(values), rel=0.001, abs=1e-9)
