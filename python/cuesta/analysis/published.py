"""Published figures beside those measured at the same number of users."""

from collections.abc import Set

from cuesta.analysis.limits import FindWaits, take_figure
from cuesta.analysis.waits import Estimate
from cuesta.figures.step import PublishedComparison, StepFigures
from cuesta.plan.published import PublishedFigure


def compare_published(
    figures: list[PublishedFigure], number: int, step: StepFigures, find_waits: FindWaits
) -> list[PublishedComparison]:
    """Compare the figures published for a step's number of users with that step."""
    return [
        _compare_one(each, number, take_figure(each.figure, step, find_waits))
        for each in figures
        if each.users in (None, step.users)
    ]


def list_unmeasured(figures: list[PublishedFigure], users: Set[int]) -> list[PublishedComparison]:
    """Figures published for a number of users that no step had."""
    return [_compare_one(each, None, None) for each in figures if each.users not in {None, *users}]


def _compare_one(each: PublishedFigure, step: int | None, found: Estimate | None) -> PublishedComparison:
    ratio = None if found is None or not each.number else found.value / each.number
    return PublishedComparison(
        what=each.what,
        figure=str(each.figure),
        users=each.users,
        published=each.number,
        bound=each.bound,
        source=each.source,
        step=step,
        measured=None if found is None else found.value,
        at_least=bool(found and found.at_least),
        ratio=ratio,
        is_duration=each.figure.is_duration,
    )
