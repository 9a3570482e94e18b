"""Evaluates limits on the figures of a step."""

import operator
from collections.abc import Callable

from cuesta._native import Histogram
from cuesta.figures.catalogue import DURATIONS
from cuesta.figures.durations import Distribution
from cuesta.figures.limit import Limit
from cuesta.figures.reference import NUMBERS, OF_CLASSES, Reference, selects
from cuesta.figures.step import LimitResult, StepFigures

FindHistogram = Callable[[str, str | None], Histogram | None]
"""Returns the histogram of a metric for a class of transactions or a group, or for all (None)."""


def judge(limits: list[Limit], step: StepFigures, find_histogram: FindHistogram) -> list[LimitResult]:
    """Evaluate limits; a limit is not kept if its figure was not measured."""
    results = []
    for limit in limits:
        value = measured(limit.figure, step, find_histogram)
        kept = value is not None and limit.holds(value)
        results.append(LimitResult(limit.text, value, kept, limit.figure.is_duration, step.step))
    return results


def measured(figure: Reference, step: StepFigures, find_histogram: FindHistogram) -> float | None:
    """Take a figure from a step; None if nothing was measured of it."""
    if figure.is_of_form:
        return None
    if figure.statistic:
        return statistic(find_histogram(figure.metric, figure.transaction), figure.statistic)
    if figure.transaction is None:
        return NUMBERS[figure.metric].of(step)
    ended = statistic(find_histogram("response", figure.transaction), "count") or 0
    if NUMBERS[figure.metric].name == "transactions.count":
        return ended
    return ended / step.seconds if step.seconds else None


def number_of_values(figure: Reference, step: StepFigures) -> int | None:
    """How many values of a step a figure of durations rests on; None for another figure."""
    if figure.metric not in DURATIONS or figure.statistic == "count":
        return None
    if figure.transaction is None:
        return int(getattr(step, figure.metric).count)
    if figure.metric not in OF_CLASSES:
        of_groups = [each for each in step.keys if each.group == figure.transaction]
        return sum(getattr(each, figure.metric, Distribution()).count for each in of_groups)
    sources = {each.transaction for each in step.classes}
    of = [each for each in step.classes if selects(figure.transaction, each.group, each.transaction, sources)]
    return sum(getattr(each, figure.metric, Distribution()).count for each in of)


def statistic(histogram: Histogram | None, name: str) -> float | None:
    """Take `count`, `min`, `mean`, `max` or any `p99.9` of a histogram; None of nothing."""
    if name == "count":
        return histogram.count if histogram else 0
    if histogram is None or not histogram.count:
        return None
    if name.startswith("p"):
        return histogram.quantile(float(name[1:]) / 100)
    value: float = operator.attrgetter(name)(histogram)
    return value
