"""Whether the users of an open load were too few for its rate, while the host kept the objective.

Times count from arrival, so they hold the wait for a free user: the driver's own pool, not the host. What counts from
when keys were sent leaves that wait out. If arrivals waited for a user and the objective would be kept without that
wait, the trial tells nothing about the host at this rate.
"""

from dataclasses import replace

from cuesta.analysis.limits import judge
from cuesta.analysis.step import StepRecords
from cuesta.figures.limit import Limit
from cuesta.figures.step import StepFigures

SINCE_SENT = {"response": "response_from_sent", "echo": "echo_from_sent"}
"""Figures that count from arrival, and what they are without the wait for a user."""

ONLY_FROM_ARRIVAL = ("first_response", "connect", "skipped", "due.waiting", "due.skipped", "unfinished.oldest")
"""Figures that hold the wait for a user and are not known without it: where arrivals waited they tell nothing."""


def users_were_too_few(records: StepRecords, step: StepFigures) -> bool:
    """Whether arrivals waited for a free user, and all limits would be kept without that wait."""
    if not has_waited(records):
        return False
    judged = judge(of_host(step), step, records.find_waits)
    return all(result.ok or result.undecided for result in judged)


def has_waited(records: StepRecords) -> bool:
    """Whether arrivals waited for a free user at the end of a second, or were skipped as too many waited."""
    return any(row.due.get("waiting") or row.due.get("skipped") for row in records.rows)


def of_host(step: StepFigures) -> list[Limit]:
    """The limits of a step, each on what the host alone did."""
    limits = [Limit.read(result.limit) for result in step.limits]
    return [without_waits(limit) for limit in limits if limit.figure.metric not in ONLY_FROM_ARRIVAL]


def without_waits(limit: Limit) -> Limit:
    metric = SINCE_SENT.get(limit.figure.metric, limit.figure.metric)
    return replace(limit, figure=replace(limit.figure, metric=metric))
