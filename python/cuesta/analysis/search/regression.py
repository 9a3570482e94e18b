"""The load at which the excess crosses zero: local linear regression near the limit, robust, on a grid.

`excess = slope · (load − limit) / limit`, slope > 0. A normal kernel around the limit, 35 % wide, weights the trials,
so that the line need not hold for the whole curve. Residuals have Student's t distribution with 4 degrees of freedom,
so that an outlier does not move the limit. The residual of a trial on the side that the line predicts is censored at
FAR scales: response may jump at the limit. A trial whose excess was not measured, or whose verdict has another reason
(errors, a hard failure), is known only by its side of the limit.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any

from cuesta.analysis.search.outcome import LimitEstimate
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
"""The probability that a trial without an excess is on the wrong side of the limit: one hard failure may be chance."""

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
    """None: only its side of the limit is known."""
    against: bool = False
    """Whether the trial missed for another reason than the limits."""


def observe(trials: Iterable[Trial]) -> tuple[Observation, ...]:
    """Trials sorted by load, so that the fit does not depend on their order.

    An excess that does not decide the verdict is left out: only the side of the limit is known.
    """
    rows = []
    for trial in trials:
        decides = trial.excess is not None and math.isfinite(trial.excess) and trial.met == (trial.excess <= 0)
        rows.append(Observation(trial.load, trial.met, trial.excess if decides else None, bool(trial.against)))
    return tuple(sorted(rows, key=lambda row: (row.load, row.met, row.excess is None, row.excess or 0.0, row.against)))


def estimate_noise(rows: Iterable[Observation], near: float) -> float:
    """The scale of the noise near a load: pooled over loads with repeats, weighted by the kernel; at least the floor.

    The weights matter because queues vary most near saturation, while the first load is repeated most.
    """
    squares, freedom = PRIOR_WEIGHT * FLOOR**2, float(PRIOR_WEIGHT)
    for load, group in groupby(rows, key=lambda row: row.load):
        known = [row.excess for row in group if row.excess is not None]
        mean = sum(known) / len(known) if known else 0.0
        squares += kernel(load, near) * sum((value - mean) ** 2 for value in known)
        freedom += kernel(load, near) * max(len(known) - 1, 0)
    return max(math.sqrt(squares / freedom), FLOOR)


@lru_cache(maxsize=4096)
def fit_line(rows: tuple[Observation, ...]) -> LimitEstimate | None:
    """Fit the line; None unless a trial passed and one missed."""
    import numpy as np  # noqa: PLC0415 - slow to load, and only searches fit

    if len({row.met for row in rows}) < 2:
        return None
    noise = estimate_noise(rows, separate(rows))
    rows = tuple(raise_to_pooled(row, noise) for row in rows)
    centre = separate(rows)
    low, high = max(rows[0].load / 2, 1e-3 * rows[-1].load), find_ceiling(rows) or 2 * rows[-1].load
    tail = (1 - INTERVAL) / 2
    for _ in range(3):
        edges = np.linspace(low, high, POINTS + 1)
        limits = (edges[1:] + edges[:-1]) / 2
        logs = log_likelihood(limits, rows, centre, noise)
        # Slopes are marginalized. Priors of limit and slope are uniform in their logarithms.
        density = np.exp(logs - logs.max()).sum(axis=1) / limits
        cumulative = np.append(0.0, np.cumsum(density) / density.sum())
        least, centre, most = np.interp([0.005, 0.5, 0.995], cumulative, edges).tolist()
        margin = 0.5 * (most - least) + high / POINTS
        low, high = max(low, least - margin), min(high, most + margin)
    low, high = np.interp([tail, 1 - tail], cumulative, edges).tolist()
    # Between two neighbouring loads that were tried, the straight line is a guess: the response may jump there.
    low = min(low, max((row.load for row in rows if row.load <= centre), default=low))
    high = max(high, min((row.load for row in rows if row.load > centre), default=high))
    likeliest = SLOPES[log_likelihood(np.array([centre]), rows, centre, noise).argmax()]
    return LimitEstimate(centre, low, high, likeliest, noise)


def find_ceiling(rows: Sequence[Observation]) -> float | None:
    """The smallest load above all passes that failed outright: an upper end of the grid; None if that may be chance.

    The line cannot tell: before a hard failure the response may be far below its limit. A single failure may be
    chance, unless the limits were missed as well.
    """
    most = max(row.load for row in rows if row.met)
    missed = [row for row in rows if row.against and row.load > most]
    is_sure = len(missed) > 1 or any(row.excess is not None for row in missed)
    return missed[0].load if is_sure else None


def raise_to_pooled(row: Observation, noise: float) -> Observation:
    """Correct an excess from the median over trials to that of a long run, which pools all values.

    With an exponential tail the logarithm of the pooled percentile exceeds the mean of the trials' by their variance;
    they are skewed, so that their median is below the mean by about as much. Measured at M/D/1 with a utilization of
    84 %: 0.08 and 0.03 at a variance of 0.07, and more near saturation.
    """
    return row if row.excess is None else replace(row, excess=row.excess + 2 * noise**2)


def separate(rows: Sequence[Observation]) -> float:
    """The midpoint between neighbouring loads that separates passes from misses with the least contradiction.

    A trial contradicts by its excess, in scales of the least noise, at most FAR.
    """
    loads = sorted({row.load for row in rows})

    def contradiction(ends: tuple[float, float]) -> float:
        low, high = ends
        wrong = [row for row in rows if (row.load <= low and not row.met) or (row.load >= high and row.met)]
        return sum(FAR if row.excess is None else min(abs(row.excess) / FLOOR, FAR) for row in wrong)

    low, high = min(pairwise(loads), key=contradiction, default=(loads[0], loads[0]))
    return (low + high) / 2


def kernel(load: float, centre: float) -> float:
    distance = (load - centre) / (KERNEL * centre)
    return math.exp(-0.5 * distance * distance)


def log_likelihood(limits: Any, rows: Sequence[Observation], centre: float, noise: float) -> Any:
    """An array with a row for each limit and a column for each slope; the kernel around `centre` weights the trials."""
    import numpy as np  # noqa: PLC0415 - see above

    total = np.zeros((len(limits), len(SLOPES)))
    for row in rows:
        line = np.outer(row.load / limits - 1, SLOPES)
        if row.excess is None:
            likelihood = np.log(np.where((line > 0) == row.met, BY_CHANCE, 1 - BY_CHANCE))
        else:
            distance = (row.excess - line) / noise
            is_censored = (row.excess * line > 0) & (abs(distance) >= FAR)
            likelihood = -2.5 * np.log1p(0.25 * np.where(is_censored, FAR, distance) ** 2)
        total += kernel(row.load, centre) * likelihood
    return total
