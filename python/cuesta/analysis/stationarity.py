"""Whether throughput and response keep their level while measuring: changes of level, and drifts in a straight line.

A change of level is sought at every place of the interval: where two levels leave the least squares. A drift is found
by Kendall's rank test of the seconds against time, and its size by the Theil-Sen slope (Sen, JASA 63, 1968), so that a
single stall is none. To the response of a host that warms up an exponential is fitted. All errors take into account
that seconds which follow each other resemble each other.

Near saturation a queue wanders, and the halves of any interval differ. Two things tell that from a change: what is left
beside the levels is autocorrelated, and the level moves over many seconds instead of from one to the next. The bounds
below are those of closed loops at 0.5 to 1.3 of saturation, and of autoregressive series up to a random walk: at most 1
in 100 steady runs is doubted (tests/analysis/test_steady_state.py).
"""

import math
import statistics
from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise

from cuesta.figures.step import LevelShift

LEAST_VALUES = 10
"""Shorter series are not judged."""

LEAST_PART = 3
"""Values that make a level."""

MOST_VALUES = 60
"""Longer series are averaged down to at most these: seconds that follow each other resemble each other."""

MATTERS = 0.10
"""Least change, as a share of the later level."""

COUNTS_BEYOND_CHANCE = 4.5
"""Least shift of independent counts, in standard errors: there are up to 55 places to split at."""

LEVEL_BEYOND_CHANCE, LEVEL_OF_FEW = 7.5, 36.0
"""Least shift of a level, in standard errors: the first, and the second divided by the number of values, since few show
little of how much they resemble each other. Twice as much if it is gradual, as a queue wanders."""

DRIFT_BEYOND_CHANCE = 4.8
"""Least value of Kendall's statistic, in standard errors. A series of fewer than 14 values cannot reach it."""

RATES = (2.0, 4.0, 8.0, 15.0)
"""The series lasts for this many time constants of the transient; each is tried."""

TRANSIENT_BEYOND_CHANCE, TRANSIENT_OF_FEW = 3.0, 100.0
"""Least transient, in standard errors: the first, and the second divided by the number of values."""

LEFT_BY_LEVELS, LEFT_BY_CURVE = 0.07, 0.015
"""Two levels, or a line or an exponential, that leave less of the variance than this are no chance: a random walk
leaves more."""


def shift(values: Sequence[float], counts: bool = False) -> LevelShift | None:
    """Find a change of level, or a drift.

    Seconds of `counts` are independent and vary at least as much as random arrivals.
    """
    means = averaged(values)
    if len(means) < LEAST_VALUES:
        return None
    if counts:
        return count_shift(means, len(values) // len(means)) or drift(means)
    # A stall in the first second is no transient: one is seen without that second, too.
    return level_shift(means) or drift(means) or (transient(means) if transient(means[1:]) else None)


def averaged(values: Sequence[float]) -> list[float]:
    """At most MOST_VALUES means of values that follow each other."""
    width = max(-(-len(values) // MOST_VALUES), 1)
    return [statistics.fmean(values[i : i + width]) for i in range(0, len(values) - width + 1, width)]


def count_shift(means: Sequence[float], width: int) -> LevelShift | None:
    """Find a shift in the level of counts; each value is the mean of `width` seconds."""
    cut, before, after, residuals = two_levels(means)
    variance = max(variance_of(residuals), statistics.fmean(means) / width)
    error = (variance / cut + variance / (len(means) - cut)) ** 0.5
    return beyond(COUNTS_BEYOND_CHANCE * error, LevelShift(before, after, cut / len(means)))


def level_shift(means: Sequence[float]) -> LevelShift | None:
    """Find a shift in a level whose values may wander: in their logarithms, since a longer wait also varies by more."""
    if min(means) <= 0:
        return None
    logs = [math.log(mean) for mean in means]
    cut, before, after, residuals = two_levels(logs)
    variance = variance_of(residuals) * autocorrelation_factor(residuals, OF_LEVELS)
    error = (variance / cut + variance / (len(logs) - cut)) ** 0.5
    chance = (LEVEL_BEYOND_CHANCE + LEVEL_OF_FEW / len(logs)) * error / abruptness(logs, cut)
    are_levels = statistics.pvariance(residuals) < LEFT_BY_LEVELS * statistics.pvariance(logs)
    if abs(after - before) <= chance and not are_levels:
        return None
    return beyond(0.0, LevelShift(statistics.fmean(means[:cut]), statistics.fmean(means[cut:]), cut / len(means)))


def abruptness(logs: Sequence[float], cut: int) -> float:
    """The share of a shift that happens within two seconds; at least a half, and at most 1."""
    change = statistics.fmean(logs[cut:]) - statistics.fmean(logs[:cut])
    steps = (logs[cut] - logs[cut - 1], logs[cut + 1] - logs[cut - 1], logs[cut] - logs[cut - 2])
    return min(max(0.5, *(step / change for step in steps)), 1.0) if change else 1.0


def drift(means: Sequence[float]) -> LevelShift | None:
    """Find a drift in a straight line; it has no place."""
    many = len(means)
    slope = statistics.median((means[j] - means[i]) / (j - i) for i, j in combinations(range(many), 2))
    middle = statistics.median(mean - slope * i for i, mean in enumerate(means))
    residuals = [mean - middle - slope * i for i, mean in enumerate(means)]
    rising = sum((later > earlier) - (later < earlier) for earlier, later in combinations(means, 2))
    error = (many * (many - 1) * (2 * many + 5) / 18 * autocorrelation_factor(residuals)) ** 0.5
    is_line = statistics.pvariance(residuals) < LEFT_BY_CURVE * statistics.pvariance(means)
    if abs(rising) <= DRIFT_BEYOND_CHANCE * error and not is_line:
        return None
    return beyond(0.0, LevelShift(middle, middle + slope * (many - 1), None))


def transient(means: Sequence[float]) -> LevelShift | None:
    """Find a level that is approached exponentially, as by a host that warms up.

    It is judged in the logarithms, unless an exponential explains nearly all of the values themselves.
    """
    if min(means) <= 0:
        return None
    many, logs = len(means), [math.log(mean) for mean in means]
    fitted, residuals = best_exponential(logs)
    error = variance_of(residuals) * autocorrelation_factor(residuals, OF_LEVELS) / many
    if statistics.pvariance(fitted) > (TRANSIENT_BEYOND_CHANCE + TRANSIENT_OF_FEW / many) ** 2 * error:
        return beyond(0.0, LevelShift(math.exp(fitted[0]), math.exp(fitted[-1]), None))
    fitted, residuals = best_exponential(means)
    if statistics.pvariance(residuals) < LEFT_BY_CURVE * statistics.pvariance(means):
        return beyond(0.0, LevelShift(fitted[0], fitted[-1], None))
    return None


def best_exponential(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """The exponential that leaves the least squares, and what it leaves."""
    many = len(values)
    fits = [fit(values, [math.exp(-second * rate / many) for second in range(many)]) for rate in RATES]
    return min(fits, key=lambda each: statistics.pvariance(each[1]))


def fit(values: Sequence[float], shape: Sequence[float]) -> tuple[list[float], list[float]]:
    """The multiple of a shape, plus a constant, that leaves the least squares; and what it leaves."""
    slope, constant = statistics.linear_regression(shape, values)
    fitted = [constant + slope * each for each in shape]
    return fitted, [value - each for value, each in zip(values, fitted, strict=True)]


def beyond(chance: float, found: LevelShift) -> LevelShift | None:
    """The change, if it is beyond chance and of a size that matters."""
    change = abs(found.after - found.before)
    return found if change > max(MATTERS * abs(found.after), chance) else None


def two_levels(means: Sequence[float]) -> tuple[int, float, float, list[float]]:
    """The best split, the levels before and after it, and what is left beside them."""
    cut = best_split(means)
    before, after = statistics.fmean(means[:cut]), statistics.fmean(means[cut:])
    return cut, before, after, [mean - before for mean in means[:cut]] + [mean - after for mean in means[cut:]]


def best_split(values: Sequence[float]) -> int:
    """The split that leaves the least squares about two levels."""
    total, many = sum(values), len(values)
    sums = list(accumulate(values, initial=0.0))

    def gain(cut: int) -> float:
        difference = sums[cut] / cut - (total - sums[cut]) / (many - cut)
        return difference * difference * cut * (many - cut)

    return max(range(LEAST_PART, many - LEAST_PART + 1), key=gain)


def variance_of(residuals: Sequence[float]) -> float:
    """The variance about two levels, or about a line."""
    return sum(residual * residual for residual in residuals) / (len(residuals) - 2)


OF_A_MEAN, OF_LEVELS = (1.0, 3.0), (5.0, 20.0)
"""A series of n values underestimates its autocorrelation ρ by (a + b ρ) / n: where its mean was taken away (Marriott
and Pope, Biometrika 41, 1954), or the two levels that fit best, which take more of what is slow (by simulation)."""


def autocorrelation_factor(residuals: Sequence[float], bias: tuple[float, float] = OF_A_MEAN) -> float:
    """The factor by which autocorrelation ρ of neighbours increases the variance of a mean: (1 + ρ) / (1 − ρ)."""
    square = sum(residual * residual for residual in residuals)
    if not square:
        return 1.0
    rho = sum(a * b for a, b in pairwise(residuals)) / square
    rho = min(max(rho + (bias[0] + bias[1] * rho) / len(residuals), 0.0), 0.98)
    return (1 + rho) / (1 - rho)
