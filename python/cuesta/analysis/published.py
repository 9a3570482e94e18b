"""Published figures, each beside what was measured in the steps that it is of."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from cuesta._native import Histogram
from cuesta.analysis.limits import measured
from cuesta.plan.schema import Published


@dataclass(frozen=True, slots=True)
class Beside:
    """One published figure and what was measured."""

    what: str
    figure: str
    """As in limits: `characters.in_per_s_per_user`, `response.mean`."""
    users: int | None
    """The number of users that the published figure is of; None means any."""
    published: float
    """Seconds where `is_duration`, else a number."""
    bound: str | None
    """`at least` or `at most`, where only so much was published."""
    source: str
    step: int | None
    """The step that was measured; None if there was none with that number of users."""
    measured: float | None
    """In the unit of `published`; None if there was nothing to measure."""
    ratio: float | None
    """Measured over published."""
    is_duration: bool


def beside(
    figures: list[Published],
    step: int,
    users: int,
    durations: Callable[[str, str | None], Histogram | None],
    numbers: Mapping[str, float | None],
) -> list[Beside]:
    """Hold those of them that are of a step with so many users against what was measured in it."""
    return [
        _beside(each, step, measured(each.figure, durations, numbers))
        for each in figures
        if each.users in (None, users)
    ]


def unmeasured(figures: list[Published], users: Set[int]) -> list[Beside]:
    """Give those that are of a number of users with which no step was measured."""
    return [_beside(each, None, None) for each in figures if each.users not in {None, *users}]


def _beside(each: Published, step: int | None, value: float | None) -> Beside:
    ratio = None if value is None or not each.number else value / each.number
    return Beside(
        what=each.what,
        figure=str(each.figure),
        users=each.users,
        published=each.number,
        bound=each.bound,
        source=each.source,
        step=step,
        measured=value,
        ratio=ratio,
        is_duration=each.figure.is_duration,
    )
