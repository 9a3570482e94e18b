"""Where the excess crosses zero: a straight line through the trials near the limit, fitted on a grid.

`excess = slope · (load − limit) / limit`, slope > 0. Far trials count little (a normal kernel around the limit, 35 %
wide), so that the line need not hold for the whole curve. Noise is Student's t with 4 degrees of freedom, so that one
odd trial does not move the limit. Beyond that, a trial on the side that the line says costs little, however far from
the line it is: response may jump at the limit, and says no less for it. A trial whose excess was not measured, or whose
verdict has another reason (errors, a host that gave out), counts by its side alone.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise

from cuesta.analysis.search.outcome import Belief
from cuesta.analysis.search.trial import Trial

KERNEL = 0.35
"""Width of the kernel, as a share of the limit."""

FLOOR = 0.10
"""Least scale of the noise: percentiles of a few minutes differ at least that much from trial to trial."""

PRIOR_WEIGHT = 4
"""Degrees of freedom that the floor counts as, beside those of the repeats."""

FAR = 2.0
"""Distances from the line that matter, in scales of the noise, for a trial on the side that the line says."""

BY_CHANCE = 0.05
"""The probability that a trial whose side alone counts is on the wrong one: a host may give out once by bad luck."""

SLOPES = [0.3 * 1.35**power for power in range(16)]
"""From a hundredth in load making 0.3 % in excess to 27 %: the cliff."""

POINTS = 60
"""Places on the grid of limits."""

INTERVAL = 0.90


@dataclass(frozen=True, slots=True, order=True)
class Observation:
    """A trial as the fit sees it."""

    load: float
    met: bool
    excess: float | None
    """None: only the side counts."""
    against: bool = False
    """Whether the trial missed for another reason than the limits."""


def observations(trials: Iterable[Trial]) -> tuple[Observation, ...]:
    """What counts, in order of load, so that the order of trials is of no account."""
    seen = [
        Observation(trial.load, trial.met, trial.excess if agrees(trial) else None, bool(trial.against))
        for trial in trials
        if trial.counts
    ]
    return tuple(
        sorted(seen, key=lambda each: (each.load, each.met, each.excess is None, each.excess or 0.0, each.against))
    )


def agrees(trial: Trial) -> bool:
    """Whether the excess alone gives the verdict."""
    return trial.excess is not None and math.isfinite(trial.excess) and trial.met == (trial.excess <= 0)


def noise_of(seen: Iterable[Observation], near: float) -> float:
    """The scale of the noise near a load: from loads that were tried more than once, at least the floor.

    Queues vary most near saturation. Loads far away, such as the first one, which is tried again and again, count
    little.
    """
    squares, freedom = PRIOR_WEIGHT * FLOOR**2, float(PRIOR_WEIGHT)
    for load, group in groupby(seen, key=lambda each: each.load):
        known = [each.excess for each in group if each.excess is not None]
        mean = sum(known) / len(known) if known else 0.0
        squares += kernel(load, near) * sum((value - mean) ** 2 for value in known)
        freedom += kernel(load, near) * max(len(known) - 1, 0)
    return max(math.sqrt(squares / freedom), FLOOR)


@lru_cache(maxsize=4096)
def fit(seen: tuple[Observation, ...]) -> Belief | None:
    """Fit the line; None unless some load was met and some load was missed."""
    met = [each.load for each in seen if each.met]
    missed = [each.load for each in seen if not each.met]
    if not met or not missed:
        return None
    noise = noise_of(seen, divide(seen))
    seen = tuple(at_mean(each, noise) for each in seen)
    low, high = min(*met, *missed), max(*met, *missed)
    centre = divide(seen)
    low, high = max(low / 2, 1e-3 * high), ceiling(seen) or 2 * high
    for _ in range(3):
        grid = spaced(low, high)
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
    return Belief(centre, low, high, slope_at(centre, seen, noise), noise)


def ceiling(seen: Sequence[Observation]) -> float | None:
    """The smallest load above all that were met which missed for another reason than the limits: the limit is below.

    The line does not say so: where a host gives out, response may be far below the limit up to the last user. A single
    such trial may be chance, unless it missed the limits too.
    """
    most = max(each.load for each in seen if each.met)
    missed = [each for each in seen if each.against and each.load > most]
    is_sure = len(missed) > 1 or any(each.excess is not None for each in missed)
    return missed[0].load if is_sure else None


def at_mean(observation: Observation, noise: float) -> Observation:
    """Raise an excess from the middle of what trials of one load have to what a long run has.

    A long run has the percentile of all values together. If their tail is exponential, its logarithm is above the mean
    of those of the trials by their variance, and these are skewed, so that their middle is below the mean by about as
    much: measured at M/D/1 that is 84 % busy, 0.08 and 0.03 at a variance of 0.07, and more near saturation.
    """
    raised = None if observation.excess is None else observation.excess + 2 * noise**2
    return replace(observation, excess=raised)


def divide(seen: Sequence[Observation]) -> float:
    """A load between those that were met and those that missed, where the least contradicts it."""
    loads = sorted({each.load for each in seen})

    def contradicted(low: float, high: float) -> float:
        return sum(
            weight(each) for each in seen if (each.load <= low and not each.met) or (each.load >= high and each.met)
        )

    low, high = min(pairwise(loads), key=lambda pair: contradicted(*pair), default=(loads[0], loads[0]))
    return (low + high) / 2


def weight(observation: Observation) -> float:
    """How sure the side of a trial is: up to FAR scales of the least noise."""
    return FAR if observation.excess is None else min(abs(observation.excess) / FLOOR, FAR)


def spaced(low: float, high: float) -> list[float]:
    """The middles of equal parts."""
    return [low + (high - low) * (number + 0.5) / POINTS for number in range(POINTS)]


def posterior_of(grid: Sequence[float], seen: Sequence[Observation], centre: float, noise: float) -> list[float]:
    """The probability of each limit of the grid, over all slopes alike."""
    weights = [kernel(each.load, centre) for each in seen]
    logs = [[log_likelihood(limit, slope, seen, weights, noise) for slope in SLOPES] for limit in grid]
    top = max(map(max, logs))
    # Limits and slopes are alike likely beforehand on a scale of ratios.
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
    """The quantile of a distribution on a grid, each point of which stands for the room half-way to its neighbours."""
    wanted, below = share * sum(weights), 0.0
    step = grid[1] - grid[0]
    for point, weight in zip(grid, weights, strict=True):
        if below + weight >= wanted:
            inside = (wanted - below) / weight if weight else 0.5
            return point + (inside - 0.5) * step
        below += weight
    return grid[-1]


def slope_at(centre: float, seen: Sequence[Observation], noise: float) -> float:
    """The likeliest slope at the limit."""
    weights = [kernel(each.load, centre) for each in seen]
    return max(SLOPES, key=lambda slope: log_likelihood(centre, slope, seen, weights, noise))
