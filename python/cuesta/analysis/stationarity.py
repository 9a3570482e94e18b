"""Whether throughput and response are stationary while measuring: tests for shifts of level, drifts and transients.

A shift is placed where two levels leave the least sum of squares. A drift is found by Kendall's rank test of the
seconds against time, and its size by the Theil-Sen slope (Sen, JASA 63, 1968), so that a single stall is none. A
transient is an exponential fitted to the response, as of a host that warms up. Standard errors allow for
autocorrelation.

Near saturation a queue wanders, and the halves of any interval differ. Two things distinguish that from a shift: the
residuals are autocorrelated, and the level moves over many seconds instead of from one to the next. The bounds below
come from closed loops at 0.5 to 1.3 of saturation and from autoregressive series up to a random walk: at most 1 in 100
steady runs is doubted (tests/analysis/test_steady_state.py).
"""

import math
import statistics
from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise

from cuesta.figures.step import LevelShift

LEAST_VALUES = 10
"""Shorter series are not judged."""

LEAST_PART = 3
"""Least values of a level."""

MOST_VALUES = 60
"""Longer series are averaged in blocks, since neighbouring seconds are autocorrelated."""

MATTERS = 0.10
"""Least relative change, by the later level."""

COUNTS_BEYOND_CHANCE = 4.5
"""Least shift of independent counts, in standard errors, over up to 55 candidate splits."""

LEVEL_BEYOND_CHANCE, LEVEL_OF_FEW = 7.5, 36.0
"""Least shift of a level, in standard errors: the first, plus the second divided by the number of values, since few
values underestimate the autocorrelation. Twice as much if the shift is gradual, as where a queue wanders."""

DRIFT_BEYOND_CHANCE = 4.8
"""Least value of Kendall's statistic, in standard errors; series of fewer than 14 values cannot reach it."""

RATES = (2.0, 4.0, 8.0, 15.0)
"""Lengths of the series in time constants of the transient; the best is taken."""

TRANSIENT_BEYOND_CHANCE, TRANSIENT_OF_FEW = 3.0, 100.0
"""Least transient, in standard errors: the first, plus the second divided by the number of values."""

LEFT_BY_LEVELS, LEFT_BY_CURVE = 0.07, 0.015
"""Shares of unexplained variance below which two levels, or a line or an exponential, are no chance: a random walk
leaves more."""


def find_shift(values: Sequence[float], counts: bool = False) -> LevelShift | None:
    """Find a shift, a drift or a transient in values of consecutive seconds.

    `counts`: they are independent, and vary at least as much as random arrivals.
    """
    means = average_blocks(values)
    if len(means) < LEAST_VALUES:
        return None
    if counts:
        return find_count_shift(means, len(values) // len(means)) or find_drift(means)
    # A transient is also found without the first second; a stall in that second is none.
    found = find_level_shift(means) or find_drift(means)
    return found or (find_transient(means) if find_transient(means[1:]) else None)


def average_blocks(values: Sequence[float]) -> list[float]:
    """Average values in blocks, into at most MOST_VALUES means."""
    width = max(-(-len(values) // MOST_VALUES), 1)
    return [statistics.fmean(values[i : i + width]) for i in range(0, len(values) - width + 1, width)]


def find_count_shift(means: Sequence[float], width: int) -> LevelShift | None:
    """Find a shift of counts; each value is the mean of `width` seconds."""
    cut, before, after, residuals = fit_two_levels(means)
    variance = max(variance_of(residuals), statistics.fmean(means) / width)
    error = (variance / cut + variance / (len(means) - cut)) ** 0.5
    return if_significant(COUNTS_BEYOND_CHANCE * error, LevelShift(before, after, cut / len(means)))


def find_level_shift(means: Sequence[float]) -> LevelShift | None:
    """Find a shift of autocorrelated values, in logarithms: the deviation of waits grows with their mean."""
    if min(means) <= 0:
        return None
    logs = [math.log(mean) for mean in means]
    cut, before, after, residuals = fit_two_levels(logs)
    variance = variance_of(residuals) * autocorrelation_factor(residuals, OF_LEVELS)
    error = (variance / cut + variance / (len(logs) - cut)) ** 0.5
    chance = (LEVEL_BEYOND_CHANCE + LEVEL_OF_FEW / len(logs)) * error / abruptness(logs, cut)
    are_levels = statistics.pvariance(residuals) < LEFT_BY_LEVELS * statistics.pvariance(logs)
    if abs(after - before) <= chance and not are_levels:
        return None
    before, after = statistics.fmean(means[:cut]), statistics.fmean(means[cut:])
    return if_significant(0.0, LevelShift(before, after, cut / len(means)))


def abruptness(logs: Sequence[float], cut: int) -> float:
    """The share of a shift that happens within two seconds, between 0.5 and 1."""
    change = statistics.fmean(logs[cut:]) - statistics.fmean(logs[:cut])
    steps = (logs[cut] - logs[cut - 1], logs[cut + 1] - logs[cut - 1], logs[cut] - logs[cut - 2])
    return min(max(0.5, *(step / change for step in steps)), 1.0) if change else 1.0


def find_drift(means: Sequence[float]) -> LevelShift | None:
    """Find a linear drift; it has no place."""
    many = len(means)
    slope = statistics.median((means[j] - means[i]) / (j - i) for i, j in combinations(range(many), 2))
    middle = statistics.median(mean - slope * i for i, mean in enumerate(means))
    residuals = [mean - middle - slope * i for i, mean in enumerate(means)]
    rising = sum((later > earlier) - (later < earlier) for earlier, later in combinations(means, 2))
    error = (many * (many - 1) * (2 * many + 5) / 18 * autocorrelation_factor(residuals)) ** 0.5
    is_line = statistics.pvariance(residuals) < LEFT_BY_CURVE * statistics.pvariance(means)
    if abs(rising) <= DRIFT_BEYOND_CHANCE * error and not is_line:
        return None
    return if_significant(0.0, LevelShift(middle, middle + slope * (many - 1), None))


def find_transient(means: Sequence[float]) -> LevelShift | None:
    """Find an exponential transient, in logarithms unless one explains nearly all of the values themselves."""
    if min(means) <= 0:
        return None
    number, logs = len(means), [math.log(mean) for mean in means]
    fitted, residuals = fit_exponential(logs)
    error = variance_of(residuals) * autocorrelation_factor(residuals, OF_LEVELS) / number
    if statistics.pvariance(fitted) > (TRANSIENT_BEYOND_CHANCE + TRANSIENT_OF_FEW / number) ** 2 * error:
        return if_significant(0.0, LevelShift(math.exp(fitted[0]), math.exp(fitted[-1]), None))
    fitted, residuals = fit_exponential(means)
    if statistics.pvariance(residuals) < LEFT_BY_CURVE * statistics.pvariance(means):
        return if_significant(0.0, LevelShift(fitted[0], fitted[-1], None))
    return None


def fit_exponential(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Fit an exponential with each of RATES by least squares; returns the best and its residuals."""
    many = len(values)
    fits = [fit_shape(values, [math.exp(-second * rate / many) for second in range(many)]) for rate in RATES]
    return min(fits, key=lambda each: statistics.pvariance(each[1]))


def fit_shape(values: Sequence[float], shape: Sequence[float]) -> tuple[list[float], list[float]]:
    """Fit a multiple of a shape plus a constant by least squares; returns the fit and its residuals."""
    slope, constant = statistics.linear_regression(shape, values)
    fitted = [constant + slope * each for each in shape]
    return fitted, [value - each for value, each in zip(values, fitted, strict=True)]


def if_significant(least: float, shift: LevelShift) -> LevelShift | None:
    """The shift, if it is larger than `least` and of a size that matters."""
    change = abs(shift.after - shift.before)
    return shift if change > max(MATTERS * abs(shift.after), least) else None


def fit_two_levels(means: Sequence[float]) -> tuple[int, float, float, list[float]]:
    """Find the best split; returns it, the levels before and after it, and the residuals."""
    cut = find_split(means)
    before, after = statistics.fmean(means[:cut]), statistics.fmean(means[cut:])
    return cut, before, after, [mean - before for mean in means[:cut]] + [mean - after for mean in means[cut:]]


def find_split(values: Sequence[float]) -> int:
    """Find the split with the least sum of squares about two levels."""
    total, many = sum(values), len(values)
    sums = list(accumulate(values, initial=0.0))

    def gain(cut: int) -> float:
        difference = sums[cut] / cut - (total - sums[cut]) / (many - cut)
        return difference * difference * cut * (many - cut)

    return max(range(LEAST_PART, many - LEAST_PART + 1), key=gain)


def variance_of(residuals: Sequence[float]) -> float:
    """The variance of residuals about two levels or a line: two degrees of freedom less."""
    return sum(residual * residual for residual in residuals) / (len(residuals) - 2)


OF_A_MEAN, OF_LEVELS = (1.0, 3.0), (5.0, 20.0)
"""The bias (a + b ρ) / n by which n residuals underestimate their autocorrelation ρ: about a mean (Marriott and Pope,
Biometrika 41, 1954), and about the two levels that fit best, which absorb more of slow variation (by simulation)."""


def variance_of_mean(values: Sequence[float]) -> float:
    """The variance of the mean of at least two autocorrelated values."""
    mean = statistics.fmean(values)
    return statistics.variance(values) * autocorrelation_factor([value - mean for value in values]) / len(values)


def autocorrelation_factor(residuals: Sequence[float], bias: tuple[float, float] = OF_A_MEAN) -> float:
    """The factor (1 + ρ) / (1 − ρ) by which lag-1 autocorrelation ρ increases the variance of a mean."""
    square = sum(residual * residual for residual in residuals)
    if not square:
        return 1.0
    rho = sum(a * b for a, b in pairwise(residuals)) / square
    rho = min(max(rho + (bias[0] + bias[1] * rho) / len(residuals), 0.0), 0.98)
    return (1 + rho) / (1 - rho)
