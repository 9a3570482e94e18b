"""Counts the durations of an exact histogram in the buckets that other programs take.

A histogram of the driver knows each duration to 0.1 % (HdrHistogram, 3 digits). Here each of its counters falls whole
into the bucket that has its upper edge: counts and sums stay exact, and edges are off by those 0.1 % at most.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from cuesta._native import Histogram

FINEST, OCTAVES, PARTS = 2e-5, 22, 40
"""Explicit buckets begin at 20 µs and end at 84 s. Each is 2^(1/40) − 1 = 1.75 % wide: interpolation within one
finds a quantile to less than 2 %, however the durations lie in it."""
EDGES = tuple(FINEST * 2 ** (number / PARTS) for number in range(OCTAVES * PARTS + 1))
SCALE = 6
"""Exponential buckets are 2^(2^−6) − 1 = 1.09 % wide, with an edge at each power of two seconds."""


def total_seconds(histogram: Histogram) -> float:
    """The sum of all durations."""
    return histogram.mean * histogram.count


def cumulative_counts(histogram: Histogram) -> list[int]:
    """How many durations are at most each of EDGES, and all."""
    counts, number = [0] * (len(EDGES) + 1), 0
    for edge, count in histogram.buckets():
        while number < len(EDGES) and EDGES[number] < edge:
            number += 1
        counts[number] += count
    return [*accumulate(counts)]


@dataclass(frozen=True, slots=True)
class ExponentialBuckets:
    """Bucket `i` has durations above `base ** i` and up to `base ** (i + 1)`, where base = 2 ** 2 ** −SCALE."""

    zeros: int
    """Durations of 0."""
    first: int
    """The index of the first bucket."""
    counts: Sequence[int]


def exponential_buckets(histogram: Histogram) -> ExponentialBuckets:
    """From the first bucket with a duration to the last, those between them included."""
    zeros, counts = 0, dict[int, int]()
    for edge, count in histogram.buckets():
        if edge <= 0:
            zeros += count
        else:
            index = math.ceil(math.log2(edge) * 2**SCALE) - 1
            counts[index] = counts.get(index, 0) + count
    indices = range(min(counts), max(counts) + 1) if counts else range(0)
    return ExponentialBuckets(zeros, indices.start, [counts.get(index, 0) for index in indices])


def upper_edges(buckets: ExponentialBuckets) -> Iterator[float]:
    """The upper edge of each bucket, in seconds."""
    yield from (2 ** ((buckets.first + number + 1) / 2**SCALE) for number in range(len(buckets.counts)))
