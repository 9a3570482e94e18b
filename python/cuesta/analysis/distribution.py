"""A distribution of durations, as a row of a table."""

from dataclasses import dataclass

from cuesta._native import Histogram

ENOUGH_FOR_P999 = 10_000
"""With fewer values than this, 999 in 1000 rests on a handful of them."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Durations in seconds. All but the count are None where nothing was recorded: absent is not zero."""

    count: int = 0
    min: float | None = None
    mean: float | None = None
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p999: float | None = None
    max: float | None = None


def describe(histogram: Histogram | None) -> Distribution:
    """Take the figures of a histogram."""
    if histogram is None or not histogram.count:
        return Distribution()
    p50, p90, p95, p99, p999 = (histogram.quantile(q) for q in (0.5, 0.9, 0.95, 0.99, 0.999))
    return Distribution(histogram.count, histogram.min, histogram.mean, p50, p90, p95, p99, p999, histogram.max)
