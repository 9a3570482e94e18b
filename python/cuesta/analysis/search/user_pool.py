"""Whether an open load had too few users for its rate, while the host kept the objective.

Times since arrival include the wait for a free user of the driver's pool, which is not the host's; times since sent do
not. If arrivals waited for a user and the limits would be kept without that wait, the trial says nothing about the host
at this rate.
"""

from dataclasses import replace

from cuesta.analysis.limits import judge_limits
from cuesta.analysis.step import StepRecords
from cuesta.figures.limit import Limit
from cuesta.figures.step import StepFigures

SINCE_SENT = {"response": "response_from_sent", "echo": "echo_from_sent"}
"""Figures since arrival, each with the same without the wait for a user."""

ONLY_FROM_ARRIVAL = ("first_response", "connect", "skipped", "due.waiting", "due.skipped", "unfinished.oldest")
"""Figures that include the wait for a user and are not known without it; where arrivals waited they say nothing."""


def users_were_too_few(records: StepRecords, step: StepFigures) -> bool:
    """Whether arrivals waited for a free user, and all limits would be kept without that wait."""
    if not has_waited(records):
        return False
    judged = judge_limits(limits_of_host(step), step, records.find_waits)
    return all(result.ok or result.undecided for result in judged)


def has_waited(records: StepRecords) -> bool:
    """Whether arrivals waited for a free user at the end of a second, or were skipped as too many waited."""
    return any(row.due and row.due.count > row.due.done + row.due.under_way for row in records.rows)


def limits_of_host(step: StepFigures) -> list[Limit]:
    """The limits of a step, without the wait for a user."""
    limits = [Limit.read(result.limit) for result in step.limits]
    return [without_wait(limit) for limit in limits if limit.figure.metric not in ONLY_FROM_ARRIVAL]


def without_wait(limit: Limit) -> Limit:
    metric = SINCE_SENT.get(limit.figure.metric, limit.figure.metric)
    return replace(limit, figure=replace(limit.figure, metric=metric))
