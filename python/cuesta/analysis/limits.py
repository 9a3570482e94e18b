"""Limits, held against what was measured."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cuesta._native import Histogram
from cuesta.plan.figure import Figure
from cuesta.plan.limit import Limit


@dataclass(frozen=True, slots=True)
class Verdict:
    """One limit and whether it was kept."""

    limit: str
    value: float | None
    """What was measured; None if there was nothing to measure, and then the limit was not kept."""
    ok: bool
    is_duration: bool
    """Whether `value` is seconds."""


def judge(
    limits: list[Limit], durations: Callable[[str, str | None], Histogram | None], numbers: Mapping[str, float | None]
) -> list[Verdict]:
    """Evaluate limits; `durations` gives the histogram of a metric for one class of transaction or for all."""
    verdicts = []
    for limit in limits:
        value = measured(limit.figure, durations, numbers)
        kept = value is not None and limit.holds(value)
        verdicts.append(Verdict(limit.text, value, kept, limit.figure.is_duration))
    return verdicts


def measured(
    figure: Figure, durations: Callable[[str, str | None], Histogram | None], numbers: Mapping[str, float | None]
) -> float | None:
    """Take a figure from what was measured; None if there was nothing to measure."""
    if figure.is_of_form:
        return None
    if figure.statistic is None:
        return numbers[figure.metric]
    return statistic(durations(figure.metric, figure.transaction), figure.statistic)


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
