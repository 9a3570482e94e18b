"""A histogram of durations as a distribution."""

from cuesta._native import Histogram
from cuesta.figures.step import Distribution


def describe(histogram: Histogram | None) -> Distribution:
    """Take the figures of a histogram."""
    if histogram is None or not histogram.count:
        return Distribution()
    p50, p90, p95, p99, p999 = (histogram.quantile(q) for q in (0.5, 0.9, 0.95, 0.99, 0.999))
    return Distribution(histogram.count, histogram.min, histogram.mean, p50, p90, p95, p99, p999, histogram.max)
