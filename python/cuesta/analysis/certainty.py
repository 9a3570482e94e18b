"""The standard error of a rate that was counted second by second."""

import math
import statistics
from collections.abc import Sequence

from cuesta.analysis.stationarity import resemblance
from cuesta.ledger import Recorded


def error_of_rate(recorded: Recorded, steps: Sequence[int]) -> float:
    """The relative standard error of the transactions a second over the measurement of some steps together.

    It comes from how much the seconds of each step differ, neighbours' likeness included. It is never less than that of
    chance arrivals: a handful of seconds may be alike by chance. How much the steps differ from one another does not
    count: where that is more, it is no chance.
    """
    seconds = [by_second(recorded, step) for step in steps]
    counted = sum(map(sum, seconds))
    if not counted:
        return math.inf
    within = sum(_variance_of_sum(each) for each in seconds)
    return math.sqrt(max(within / counted**2, 1 / counted))


def by_second(recorded: Recorded, step: int) -> list[int]:
    """Count the transactions of each second, of all agents together."""
    found: dict[int, int] = {}
    for agent in recorded.agents:
        for row in agent.intervals:
            if row.step == step and row.measured:
                second = math.floor(row.start + row.length / 2)
                found[second] = found.get(second, 0) + row.transactions
    return [found[second] for second in sorted(found)]


def _variance_of_sum(counts: Sequence[int]) -> float:
    if len(counts) < 2:
        return 0.0
    mean = statistics.fmean(counts)
    return statistics.variance(counts) * len(counts) * resemblance([count - mean for count in counts])
