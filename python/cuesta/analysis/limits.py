"""Evaluates limits on the figures of a step: each is kept, crossed, not measured, or not decided."""

import math
from collections.abc import Callable
from dataclasses import replace

from cuesta.analysis.waits import Estimate, Waits
from cuesta.figures.catalogue import DURATIONS
from cuesta.figures.durations import Distribution
from cuesta.figures.limit import Limit
from cuesta.figures.reference import COUNTS, NUMBERS, OF_CLASSES, Reference, selects
from cuesta.figures.step import LimitResult, StepFigures
from cuesta.units import many, seconds

FindWaits = Callable[[str, str | None], Waits]
"""Returns the waits of a metric for a class of transactions or a group, or for all (None)."""

NOT_DECIDED = "not decided"
"""The word for a limit on which the measured values allow no verdict."""
DOUBT = 0.1
"""Largest probability that a sample has no value beyond a limit although more of the population are than it allows."""


def judge_limit(limit: Limit, step: StepFigures, find_waits: FindWaits) -> LimitResult:
    """Evaluate a limit; it is not kept if its figure was not measured."""
    found = take_figure(limit.figure, step, find_waits)
    if found is None:
        return LimitResult(limit.text, None, False, limit.figure.is_duration, step.step)
    waits = find_waits(limit.figure.metric, limit.figure.transaction) if limit.figure.statistic else Waits()
    ok, why = decide_limit(limit, found, waits)
    return LimitResult(limit.text, found.value, ok, limit.figure.is_duration, step.step, found.at_least, why)


def decide_limit(limit: Limit, found: Estimate, waits: Waits) -> tuple[bool, str | None]:
    """Whether a limit was kept; with a reason if the values allow no verdict."""
    if found.at_least and not is_decided_by_bound(limit, found.value):
        if waits.share_lost > 1 - share_answered(limit):
            return limit.holds(math.inf), None
        return False, f"it is at least {seconds(found.value)}, and no wait was longer"
    ok, share = limit.holds(found.value), share_kept(limit)
    if ok and share is not None and waits.total < (needed := least_values(share)):
        return False, f"{many(waits.total, 'value')} cannot show it: {needed:,} are needed"
    return ok, None


def is_decided_by_bound(limit: Limit, bound: float) -> bool:
    """Whether a figure of at least `bound` keeps or crosses a limit, however large it is."""
    if limit.comparison in {"==", "!="}:
        return bound > limit.value
    return limit.holds(bound) is limit.holds(math.inf)


def share_answered(limit: Limit) -> float:
    """The share of what was asked that must be answered, so that a statistic is finite."""
    statistic = limit.figure.statistic or ""
    return float(statistic[1:]) / 100 if statistic.startswith("p") else 1.0


def share_kept(limit: Limit) -> float | None:
    """The share of the values that must be on the good side of a limit; None for a limit on no percentile."""
    statistic = limit.figure.statistic or ""
    if not statistic.startswith("p") or limit.comparison in {"==", "!="}:
        return None
    share = float(statistic[1:]) / 100
    share = share if limit.comparison in {"<", "<="} else 1 - share
    return share if 0 < share < 1 else None


def least_values(share: float) -> int:
    """The number of values that shows that a share of all is on one side, if all of them are: share ** n ≤ DOUBT."""
    return math.ceil(math.log(DOUBT) / math.log(share))


def take_figure(figure: Reference, step: StepFigures, find_waits: FindWaits) -> Estimate | None:
    """Take a figure from a step; None if nothing was measured of it."""
    if figure.is_of_form:
        return None
    if figure.statistic:
        return find_waits(figure.metric, figure.transaction).statistic(figure.statistic)
    if figure.host:
        host = step.find_host(figure.host)
        return take_number(figure, replace(step, host=host)) if host else None
    if figure.transaction is None:
        return take_number(figure, step)
    ended = find_waits("response", figure.transaction).count
    if NUMBERS[figure.metric].name == "transactions.count":
        return Estimate(ended)
    return Estimate(ended / step.seconds) if step.seconds else None


def take_number(figure: Reference, step: StepFigures) -> Estimate | None:
    value = NUMBERS[figure.metric].take_from(step)
    return None if value is None else Estimate(value)


def number_of_values(figure: Reference, step: StepFigures) -> int | None:
    """How many values of a step, censored ones included, a figure of durations rests on; None for another figure."""
    if figure.metric not in DURATIONS or figure.statistic in COUNTS:
        return None
    if figure.transaction is None:
        return int(getattr(step, figure.metric).total)
    if figure.metric not in OF_CLASSES:
        of_groups = [each for each in step.keys if each.group == figure.transaction]
        return sum(getattr(each, figure.metric, Distribution()).total for each in of_groups)
    sources = {each.transaction for each in step.classes}
    classes = [each for each in step.classes if selects(figure.transaction, each.group, each.transaction, sources)]
    return sum(getattr(each, figure.metric, Distribution()).total for each in classes)
