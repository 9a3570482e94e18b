"""The load at which the excess crosses zero: local linear regression near the limit, robust, on a grid.

`excess = slope · (load − limit) / limit`, slope > 0. A normal kernel around the limit, 35 % wide, weights the trials,
so that the line need not hold for the whole curve. Residuals have Student's t distribution with 4 degrees of freedom,
so that an outlier does not move the limit. The residual of a trial on the side that the line predicts is censored at
FAR scales: response may jump at the limit. A trial whose excess was not measured, or whose verdict has another reason
(errors, a hard failure), only has a side.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise

from cuesta.analysis.search.outcome import Estimate
from cuesta.analysis.search.trial import Trial

KERNEL = 0.35
"""Width of the kernel, as a share of the limit."""

FLOOR = 0.10
"""Least scale of the noise: that of percentiles of a few minutes from trial to trial."""

PRIOR_WEIGHT = 4
"""Degrees of freedom of the floor, beside those of the repeats."""

FAR = 2.0
"""Largest residual, in scales of the noise, of a trial on the side that the line predicts."""

BY_CHANCE = 0.05
"""The probability that a trial that only has a side is on the wrong one: one hard failure may be chance."""

SLOPES = [0.3 * 1.35**power for power in range(16)]
"""From 0.3 % of excess for each percent of load to 27 %, a cliff."""

POINTS = 60
"""Size of the grid of limits."""

INTERVAL = 0.90


@dataclass(frozen=True, slots=True, order=True)
class Observation:
    """A trial as the fit sees it."""

    load: float
    met: bool
    excess: float | None
    """None: the trial only has a side."""
    against: bool = False
    """Whether the trial missed for another reason than the limits."""


def observe(trials: Iterable[Trial]) -> tuple[Observation, ...]:
    """The trials that count, sorted by load, so that the fit does not depend on their order."""
    seen = [
        Observation(trial.load, trial.met, trial.excess if excess_decides(trial) else None, bool(trial.against))
        for trial in trials
        if trial.counts
    ]
    return tuple(
        sorted(seen, key=lambda each: (each.load, each.met, each.excess is None, each.excess or 0.0, each.against))
    )


def excess_decides(trial: Trial) -> bool:
    """Whether the verdict follows from the excess."""
    return trial.excess is not None and math.isfinite(trial.excess) and trial.met == (trial.excess <= 0)


def estimate_noise(seen: Iterable[Observation], near: float) -> float:
    """The scale of the noise near a load: pooled over loads with repeats, weighted by the kernel; at least the floor.

    The weights matter because queues vary most near saturation, while the first load is repeated most.
    """
    squares, freedom = PRIOR_WEIGHT * FLOOR**2, float(PRIOR_WEIGHT)
    for load, group in groupby(seen, key=lambda each: each.load):
        known = [each.excess for each in group if each.excess is not None]
        mean = sum(known) / len(known) if known else 0.0
        squares += kernel(load, near) * sum((value - mean) ** 2 for value in known)
        freedom += kernel(load, near) * max(len(known) - 1, 0)
    return max(math.sqrt(squares / freedom), FLOOR)


@lru_cache(maxsize=4096)
def fit(seen: tuple[Observation, ...]) -> Estimate | None:
    """Fit the line; None unless a trial passed and one missed."""
    met = [each.load for each in seen if each.met]
    missed = [each.load for each in seen if not each.met]
    if not met or not missed:
        return None
    noise = estimate_noise(seen, separate(seen))
    seen = tuple(raise_to_pooled(each, noise) for each in seen)
    low, high = min(*met, *missed), max(*met, *missed)
    centre = separate(seen)
    low, high = max(low / 2, 1e-3 * high), find_ceiling(seen) or 2 * high
    for _ in range(3):
        grid = bin_midpoints(low, high)
        posterior = posterior_of(grid, seen, centre, noise)
        centre = quantile(grid, posterior, 0.5)
        room = 0.5 * (quantile(grid, posterior, 0.995) - quantile(grid, posterior, 0.005)) + high / POINTS
        low = max(low, quantile(grid, posterior, 0.005) - room)
        high = min(high, quantile(grid, posterior, 0.995) + room)
    tail = (1 - INTERVAL) / 2
    low, high = quantile(grid, posterior, tail), quantile(grid, posterior, 1 - tail)
    # Between two neighbouring loads that were tried, the straight line is a guess: the response may jump there.
    low = min(low, max((each.load for each in seen if each.load <= centre), default=low))
    high = max(high, min((each.load for each in seen if each.load > centre), default=high))
    return Estimate(centre, low, high, likeliest_slope(centre, seen, noise), noise)


def find_ceiling(seen: Sequence[Observation]) -> float | None:
    """The smallest load above all passes that failed outright: an upper end of the grid; None if that may be chance.

    The line cannot tell: before a hard failure the response may be far below its limit. A single failure may be
    chance, unless the limits were missed as well.
    """
    most = max(each.load for each in seen if each.met)
    missed = [each for each in seen if each.against and each.load > most]
    is_sure = len(missed) > 1 or any(each.excess is not None for each in missed)
    return missed[0].load if is_sure else None


def raise_to_pooled(observation: Observation, noise: float) -> Observation:
    """Correct an excess from the median over trials to that of a long run, which pools all values.

    With an exponential tail the logarithm of the pooled percentile exceeds the mean of the trials' by their variance;
    they are skewed, so that their median is below the mean by about as much. Measured at M/D/1 with a utilization of
    84 %: 0.08 and 0.03 at a variance of 0.07, and more near saturation.
    """
    raised = None if observation.excess is None else observation.excess + 2 * noise**2
    return replace(observation, excess=raised)


def separate(seen: Sequence[Observation]) -> float:
    """The midpoint between neighbouring loads that separates passes from misses with the least contradiction."""
    loads = sorted({each.load for each in seen})

    def contradicted(low: float, high: float) -> float:
        return sum(
            certainty_of(each)
            for each in seen
            if (each.load <= low and not each.met) or (each.load >= high and each.met)
        )

    low, high = min(pairwise(loads), key=lambda pair: contradicted(*pair), default=(loads[0], loads[0]))
    return (low + high) / 2


def certainty_of(observation: Observation) -> float:
    """How certain the side of a trial is, in scales of the least noise, at most FAR."""
    return FAR if observation.excess is None else min(abs(observation.excess) / FLOOR, FAR)


def bin_midpoints(low: float, high: float) -> list[float]:
    return [low + (high - low) * (number + 0.5) / POINTS for number in range(POINTS)]


def posterior_of(grid: Sequence[float], seen: Sequence[Observation], centre: float, noise: float) -> list[float]:
    """The posterior density at each limit of the grid, not normalized; slopes are marginalized."""
    weights = [kernel(each.load, centre) for each in seen]
    logs = [[log_likelihood(limit, slope, seen, weights, noise) for slope in SLOPES] for limit in grid]
    top = max(map(max, logs))
    # Priors of limit and slope are uniform in their logarithms.
    return [sum(math.exp(value - top) for value in row) / limit for limit, row in zip(grid, logs, strict=True)]


def kernel(load: float, centre: float) -> float:
    distance = (load - centre) / (KERNEL * centre)
    return math.exp(-0.5 * distance * distance)


def log_likelihood(
    limit: float, slope: float, seen: Sequence[Observation], weights: Sequence[float], noise: float
) -> float:
    total = 0.0
    for each, weight in zip(seen, weights, strict=True):
        line = slope * (each.load / limit - 1)
        if each.excess is None:
            total += weight * math.log(BY_CHANCE if each.met == (line > 0) else 1 - BY_CHANCE)
            continue
        distance = (each.excess - line) / noise
        if each.excess * line > 0 and not -FAR < distance < FAR:
            distance = FAR
        total -= weight * 2.5 * math.log1p(0.25 * distance * distance)
    return total


def quantile(grid: Sequence[float], weights: Sequence[float], share: float) -> float:
    """The quantile of a histogram with equal bins; `grid` are their midpoints."""
    wanted, below = share * sum(weights), 0.0
    step = grid[1] - grid[0]
    for point, weight in zip(grid, weights, strict=True):
        if below + weight >= wanted:
            inside = (wanted - below) / weight if weight else 0.5
            return point + (inside - 0.5) * step
        below += weight
    return grid[-1]


def likeliest_slope(centre: float, seen: Sequence[Observation], noise: float) -> float:
    """The slope of greatest likelihood, given the limit."""
    weights = [kernel(each.load, centre) for each in seen]
    return max(SLOPES, key=lambda slope: log_likelihood(centre, slope, seen, weights, noise))
