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
        _compare_one(figure, number, take_figure(figure.figure, step, find_waits))
        for figure in figures
        if figure.users in (None, step.users)
    ]


def list_unmeasured(figures: list[PublishedFigure], users: Set[int]) -> list[PublishedComparison]:
    """Figures published for a number of users that no step had."""
    return [_compare_one(figure, None, None) for figure in figures if figure.users not in {None, *users}]


def _compare_one(published: PublishedFigure, step: int | None, measured: Estimate | None) -> PublishedComparison:
    return PublishedComparison(
        what=published.what,
        figure=str(published.figure),
        users=published.users,
        published=published.number,
        bound=published.bound,
        source=published.source,
        step=step,
        measured=None if measured is None else measured.value,
        at_least=bool(measured and measured.at_least),
        ratio=measured.value / published.number if measured and published.number else None,
        is_duration=published.figure.is_duration,
    )
