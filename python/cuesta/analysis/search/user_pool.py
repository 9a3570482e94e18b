"""Whether an open load had too few users for its rate, while the host kept the objective.

Times since arrival include the wait for a free user of the driver's pool, which is not the host's; times since sent do
not. If arrivals waited for a user and the limits would be kept without that wait, the trial says nothing about the host
at this rate.
"""

from collections.abc import Iterator
from dataclasses import replace

from cuesta.analysis.limits import judge_limit
from cuesta.analysis.step import StepRecords
from cuesta.figures.limit import Limit
from cuesta.figures.step import ONLY_SINCE_ARRIVAL, SINCE_SENT, StepFigures


def lacks_users(records: StepRecords, step: StepFigures) -> bool:
    """Whether arrivals waited for a free user or never got one, and all limits would be kept without that wait."""
    if not any(row.due and row.due.count > row.due.done + row.due.under_way for row in records.rows):
        return False
    judged = [judge_limit(limit, step, records.find_waits) for limit in list_limits_since_sent(step)]
    return all(result.ok or result.undecided for result in judged)


def list_limits_since_sent(step: StepFigures) -> Iterator[Limit]:
    """The limits of a step without the wait for a user, and without those on figures that always include it."""
    for result in step.limits:
        limit = Limit.read(result.limit)
        if (metric := limit.figure.metric) not in ONLY_SINCE_ARRIVAL:
            yield replace(limit, figure=replace(limit.figure, metric=SINCE_SENT.get(metric, metric)))
