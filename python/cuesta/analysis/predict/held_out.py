"""The held-out error: a model fitted to some rows, and how far it is off the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.predict.band import response_band
from cuesta.analysis.predict.choice import Choice, choose
from cuesta.analysis.predict.fitting import FittedModel, relative_error
from cuesta.analysis.predict.points import Point
from cuesta.analysis.predict.saturation import cycle

PART = 1 / 3
"""The share of the rows, those with the highest load, that is held out if none were."""
SHORTEST = 1e-9
"""Seconds of a cycle that has no time at all, such as one of rounded rows without think times."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How far a model fitted to some rows is off the others."""

    errors: Sequence[float]
    """As shares, of throughput for closed loads, else of response."""
    within: int
    """Rows that lie in their band."""
    is_own_split: bool
    """Whether the rows were divided here, by load, because the question did not divide them."""

    @property
    def mape(self) -> float:
        """Mean absolute error, as a share."""
        return sum(map(abs, self.errors)) / len(self.errors)


def held_out(choice: Choice, points: Sequence[Point]) -> HeldOut | None:
    """The error at rows that were not fitted; if all were, the highest loads are held out of another fit.

    Its form and its meters' demands are those that the lighter rows alone would have given.
    """
    fit = choice.best.points
    rest = [point for point in points if point not in fit and choice.best.covers(point.at)]
    if rest:
        return errors_at(choice.best, rest, is_own_split=False)
    if len(fit) < 2:
        return None
    light, heavy = divided(fit)
    lighter = choose(light)
    if lighter is None or not lighter.best.fit.freedom:
        return None
    others = [point for point in heavy if lighter.best.covers(point.at)]
    return errors_at(lighter.best, others, is_own_split=True) if others else None


def divided(points: Sequence[Point]) -> tuple[list[Point], list[Point]]:
    """The rows with lower and those with higher loads, by the rate that users would demand of an idle host.

    The rate that was measured would not do: that of a host which thrashes falls.
    """
    ordered = sorted(
        points, key=lambda point: (point.at.users / max(cycle(points, point.at), SHORTEST), point.at.users)
    )
    count = len(ordered) - max(1, round(PART * len(ordered)))
    return ordered[:count], ordered[count:]


def errors_at(model: FittedModel, rows: Sequence[Point], is_own_split: bool) -> HeldOut:
    errors = [relative_error(point, model.response(point.at)) for point in rows]
    within = sum(is_within(model, point) for point in rows)
    return HeldOut(errors, within, is_own_split)


def is_within(model: FittedModel, point: Point) -> bool:
    """Whether what was measured, with its rounding, meets the band of the prediction."""
    found = point.response or point.by_law
    within = response_band(model, point.at)
    return bool(found and found.low <= within.high and found.high >= within.low)
