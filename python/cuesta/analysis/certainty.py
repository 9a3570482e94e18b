"""How certain figures are: Student's t, and the standard errors of a rate and of a mean counted second by second."""

import math
from collections.abc import Callable, Sequence

from cuesta.analysis.stationarity import variance_of_mean
from cuesta.ledger import Recorded
from cuesta.ledger.run_folder import Interval

CONFIDENCE = 0.90
"""Confidence of two-sided intervals; either side alone has 95 %."""
STUDENT = (
    *(6.313751515, 2.919985580, 2.353363435, 2.131846786, 2.015048373),
    *(1.943180281, 1.894578605, 1.859548038, 1.833112933, 1.812461123),
    *(1.795884819, 1.782287556, 1.770933396, 1.761310136, 1.753050356),
    *(1.745883676, 1.739606726, 1.734063607, 1.729132812, 1.724718243),
)
"""Student's t for 1, 2, … degrees of freedom: reports of sweeps and searches need no others, nor SciPy for these."""
TWO_SIDED_95 = 1.96
"""Standard errors on either side of a 95 % interval."""


def error_of_rate(recorded: Recorded, steps: Sequence[int]) -> float:
    """The relative standard error of the transactions a second over the measurement of some steps together.

    It is estimated from the variance of the seconds of each step and the autocorrelation of neighbouring seconds. It is
    at least that of random arrivals, because a handful of seconds may be alike by chance. Differences between the steps
    do not count: larger ones are not due to chance.
    """
    seconds = [sum_by_second(recorded, step) for step in steps]
    counted = sum(map(sum, seconds))
    if not counted:
        return math.inf
    within = sum(_variance_of_sum(each) for each in seconds)
    return math.sqrt(max(within / counted**2, 1 / counted))


def error_of_response(recorded: Recorded, step: int) -> float:
    """The relative standard error of the mean response of a step's transactions, since sent."""
    counts = sum_by_second(recorded, step)
    sums = sum_by_second(recorded, step, lambda row: row.sums.response_from_sent)
    return error_of_mean(counts, sums)


def error_of_mean(counts: Sequence[float], sums: Sequence[float]) -> float:
    """The relative standard error of Σ sums / Σ counts, from each second's number of values and their sum.

    It is estimated from the variance of the seconds about the mean, and the autocorrelation of neighbouring seconds.
    """
    if not sum(sums):
        return math.inf
    mean = sum(sums) / sum(counts)
    residuals = [total - mean * count for count, total in zip(counts, sums, strict=True)]
    return math.sqrt(_variance_of_sum(residuals)) / sum(sums)


def sum_by_second(
    recorded: Recorded, step: int, count: Callable[[Interval], float] = lambda row: row.transactions
) -> list[float]:
    """Add up the transactions of each second, or another number of a row, over all agents."""
    sums: dict[int, float] = {}
    for agent in recorded.agents:
        for row in agent.intervals:
            if row.step == step and row.measured:
                second = math.floor(row.start + row.length / 2)
                sums[second] = sums.get(second, 0) + count(row)
    return [sums[second] for second in sorted(sums)]


def _variance_of_sum(counts: Sequence[float]) -> float:
    return len(counts) ** 2 * variance_of_mean(counts) if len(counts) > 1 else 0.0


def student(freedom: int) -> float:
    """Student's t of a two-sided 90 % interval, or of a one-sided 95 % bound; `freedom` is at least 1."""
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    from scipy.special import stdtrit  # noqa: PLC0415, slow to load

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
