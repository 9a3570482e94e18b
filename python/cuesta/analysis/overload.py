"""Whether an open or a paced load is above the host's capacity: then the backlog grows throughout the measurement.

The rate of passes that become due is known from the plan, and those that ended are counted. If significantly fewer
ended, the host does not keep up, even if few arrivals came by chance: a saturated host ends passes steadily. A smaller
gap suffices where the backlog has grown as well.

False alarms: at most 1 in 100 runs at up to 95 % of capacity that start empty. Misses: at most 1 in 100 runs at 110 %,
from some 4,000 passes on with exponential service, and 300 with fixed (tests/analysis/test_steady_state.py); fewer
cannot be told from a load at capacity.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from cuesta.analysis.planned import Planned
from cuesta.analysis.stationarity import LEAST_VALUES, average_blocks, variance_of_mean
from cuesta.figures.step import Overload
from cuesta.ledger import Interval, StepTimes

BEYOND_CHANCE = 4.0
"""Least gap between passes due and passes ended, in standard errors."""

GROWN_BEYOND_CHANCE = 2.5
"""The same where the mean backlog of the last third exceeds the largest of the first third."""

LEAST_VARIANCE = 0.05
"""Least variance of the passes that end, relative to a Poisson process: those of a paced load end evenly."""

MATTERS = 0.01
"""Least gap, as a share of the passes due."""


@dataclass(frozen=True, slots=True)
class Passes:
    """The passes of open and paced loads in one second of a measurement, over all agents."""

    seconds: float
    due: float
    """Passes that became due. Those of a paced load are due evenly."""
    ended: int
    skipped: int = 0


def find_overload(plan: Planned | None, times: StepTimes, seconds: Sequence[Sequence[Interval]]) -> Overload | None:
    """Find out whether the load of a step is above capacity; `seconds` are the agents' rows of each second.

    Not judged in records without the number of passes; where some users wait for answers, since passes are not counted
    by group; and where a pass takes its user longer than the settling, so that the first ones may not have ended.
    """
    rows = [row for second in seconds for row in second]
    ended = sum(row.passes for row in rows)
    if plan is None or plan.any_closed or not ended:
        return None
    measured = list_passes(plan, seconds)
    begun = max(ended, sum(each.due for each in measured))
    if sum(row.sums.think + row.sums.keying for row in rows) / begun > times.settled - times.begin:
        return None
    return above_capacity(plan.open_per_s + plan.paced_per_s, measured)


def list_passes(plan: Planned, seconds: Sequence[Sequence[Interval]]) -> list[Passes]:
    """List the passes that were due and that ended in each second."""
    due = [0, *(sum(row.due.count for row in rows if row.due) for rows in seconds)]
    return [
        Passes(
            rows[0].length,
            now - before + plan.paced_per_s * rows[0].length,
            sum(row.passes for row in rows),
            sum(row.skipped for row in rows),
        )
        for rows, (before, now) in zip(seconds, pairwise(due), strict=True)
    ]


def above_capacity(offered: float, passes: Sequence[Passes]) -> Overload | None:
    """Find a backlog that grows; `offered` is how many passes a second the plan makes due."""
    longest = max((second.seconds for second in passes), default=0.0)
    ended = average_blocks([second.ended / second.seconds for second in passes if second.seconds > longest / 2])
    if len(ended) < LEAST_VALUES:
        return None
    kept, measured = statistics.fmean(ended), sum(second.seconds for second in passes)
    error = max(variance_of_mean(ended), LEAST_VARIANCE * offered / measured) ** 0.5
    bound = GROWN_BEYOND_CHANCE if has_grown(backlog(passes)) else BEYOND_CHANCE
    if offered - kept <= max(bound * error, MATTERS * offered):
        return None
    skipped = sum(second.skipped for second in passes) / measured
    return Overload(offered, kept, max(offered - kept - skipped, 0.0))


def backlog(passes: Sequence[Passes]) -> list[float]:
    """The growth of the passes under way or waiting since measuring began, at the end of each second."""
    return list(accumulate(second.due - second.skipped - second.ended for second in passes))


def has_grown(backlog: Sequence[float]) -> bool:
    third = len(backlog) // 3
    return statistics.fmean(backlog[-third:]) > max(backlog[:third])
