"""The steps of a sweep or a search in order of their load: users, or arrivals a second."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuesta.analysis.capacity.asymptotes import swept_besides_users
from cuesta.figures.step import StepFigures
from cuesta.units import digits, many

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """A step and its load."""

    step: StepFigures
    amount: float
    said: str
    """The load in words: `412 users`, `31.0 arrivals/s`."""


def by_load(summary: "Summary") -> Sequence[LoadPoint]:
    """The steps that differ in nothing but their load, the lightest first; else the last step alone.

    Of a search they are the trials that count, up to the one that tells what sets the limit, which is the last.
    """
    if (of := summary.search) and (last := of.at_limit()):
        by_number = {step.step: step for step in summary.steps}
        lighter = sorted((each for each in of.counted if each.load < last.load), key=lambda each: each.load)
        return [LoadPoint(by_number[each.step], each.load, of.method.written(each.load)) for each in (*lighter, last)]
    steps = summary.steps
    others = {name.rpartition(".")[2] for name in swept_besides_users(summary)}
    if not others and len({step.users for step in steps}) > 1:
        return sorted(map(of_users, steps), key=lambda point: point.amount)
    if others == {"load"} and all(step.due and step.seconds for step in steps):
        return sorted(map(of_arrivals, steps), key=lambda point: point.amount)
    return [of_users(summary.last)]


def of_users(step: StepFigures) -> LoadPoint:
    return LoadPoint(step, step.users, many(step.users, "user"))


def of_arrivals(step: StepFigures) -> LoadPoint:
    """An open load by what was due in the measurement interval."""
    rate = step.due.count / step.seconds if step.due else 0.0
    return LoadPoint(step, rate, f"{digits(rate)} arrivals/s")
