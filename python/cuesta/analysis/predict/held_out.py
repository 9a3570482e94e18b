"""The held-out error: a model fitted to some rows, and how far it is off the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.predict.band import response_band
from cuesta.analysis.predict.choice import Choice
from cuesta.analysis.predict.fitting import FittedModel, fitted, relative_error
from cuesta.analysis.predict.points import Point

PART = 1 / 3
"""The share of the rows, those with the highest load, that is held out if none were."""


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
    """The error at rows that were not fitted; if all were, the highest loads are held out of another fit."""
    fit = choice.best.points
    rest = [point for point in points if point not in fit and choice.best.covers(point.at)]
    if rest:
        return errors_at(choice.best, rest, is_own_split=False)
    if len(fit) < 2:
        return None
    ordered = sorted(fit, key=lambda point: (point.rate or 0.0, point.at.users))
    light = ordered[: len(ordered) - max(1, round(PART * len(ordered)))]
    model = fitted(choice.best.form, light)
    heavy = [point for point in ordered[len(light) :] if model and model.covers(point.at)]
    return errors_at(model, heavy, is_own_split=True) if model and model.fit.freedom > 0 and heavy else None


def errors_at(model: FittedModel, rows: Sequence[Point], is_own_split: bool) -> HeldOut:
    errors = [relative_error(point, model.response(point.at)) for point in rows]
    within = sum(is_within(model, point) for point in rows)
    return HeldOut(errors, within, is_own_split)


def is_within(model: FittedModel, point: Point) -> bool:
    """Whether what was measured, with its rounding, meets the band of the prediction."""
    found = point.response or point.by_law
    within = response_band(model, point.at)
    return bool(found and found.low <= within.high and found.high >= within.low)
