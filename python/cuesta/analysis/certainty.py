"""The standard error of a rate that was counted second by second."""

import math
import statistics
from collections.abc import Sequence

from cuesta.analysis.stationarity import autocorrelation_factor
from cuesta.ledger import Recorded


def error_of_rate(recorded: Recorded, steps: Sequence[int]) -> float:
    """The relative standard error of the transactions a second over the measurement of some steps together.

    It is estimated from the variance of the seconds of each step and the autocorrelation of neighbouring seconds. It is
    at least that of random arrivals, because a handful of seconds may be alike by chance. Differences between the steps
    do not count: if they are larger, they are not due to chance.
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
    return statistics.variance(counts) * len(counts) * autocorrelation_factor([count - mean for count in counts])
