"""Whether a run had settled when measuring began: do throughput and response keep the level that they started at?

The seconds of the measurement are split, within their first half, where two levels fit them best. A level is said to
have shifted when the difference is both of a size that matters and beyond chance. A steady closed run of 96 users and
30 s is wrongly doubted less than once in 500 (tests/analysis/test_stationarity.py). Near saturation a queue wanders for
minutes: some 5 in 100 runs of 30 s are doubted there, and rightly, because another run would give another mean.
MSER-5, the rule for long simulations, steps by five values; on thirty it finds fewer of the same transients.
"""

import statistics
from collections.abc import Sequence
from itertools import accumulate, pairwise

from cuesta.figures.step import LevelShift

LEAST_VALUES = 20
"""Shorter series are not judged."""

LEAST_PART = 3
"""Values that make a level."""

MOST_VALUES = 60
"""Longer series are averaged down to at most these: seconds that follow each other resemble each other."""

MATTERS = 0.10
"""Least shift, as a share of the later level."""

BEYOND_CHANCE = 4.5
"""Least shift, in standard errors: there are some 15 places to split at, and two series."""


def shift(values: Sequence[float], counts: bool = False) -> LevelShift | None:
    """Find a shift of level. Seconds of `counts` are independent and vary at least as much as random arrivals."""
    width = max(-(-len(values) // MOST_VALUES), 1)
    means = [statistics.fmean(values[i : i + width]) for i in range(0, len(values) - width + 1, width)]
    if len(means) < LEAST_VALUES:
        return None
    cut = best_split(means)
    before, after = statistics.fmean(means[:cut]), statistics.fmean(means[cut:])
    residuals = [mean - before for mean in means[:cut]] + [mean - after for mean in means[cut:]]
    variance = sum(residual * residual for residual in residuals) / (len(means) - 2)
    variance = (
        max(variance, statistics.fmean(means) / width) if counts else variance * autocorrelation_factor(residuals)
    )
    error = (variance / cut + variance / (len(means) - cut)) ** 0.5
    if abs(after - before) <= max(MATTERS * abs(after), BEYOND_CHANCE * error):
        return None
    return LevelShift(before, after, cut / len(means))


def best_split(values: Sequence[float]) -> int:
    """The split within the first half that leaves the least squares about two levels."""
    total, many = sum(values), len(values)
    sums = list(accumulate(values, initial=0.0))

    def gain(cut: int) -> float:
        difference = sums[cut] / cut - (total - sums[cut]) / (many - cut)
        return difference * difference * cut * (many - cut)

    return max(range(LEAST_PART, many // 2 + 1), key=gain)


def autocorrelation_factor(residuals: Sequence[float]) -> float:
    """The factor by which autocorrelation ρ of neighbours increases the variance of a mean: (1 + ρ) / (1 − ρ)."""
    square = sum(residual * residual for residual in residuals)
    if not square:
        return 1.0
    rho = sum(a * b for a, b in pairwise(residuals)) / square
    rho = min(max(rho + (1 + 3 * rho) / len(residuals), 0.0), 0.95)  # a short series underestimates ρ
    return (1 + rho) / (1 - rho)
