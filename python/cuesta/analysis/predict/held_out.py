"""The held-out error: of a model that was fitted to some rows, at the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.predict.band import response_band
from cuesta.analysis.predict.choice import Choice, choose_model
from cuesta.analysis.predict.fitting import FittedModel, relative_error
from cuesta.analysis.predict.points import Point
from cuesta.analysis.predict.saturation import shortest_cycle

PART = 1 / 3
"""The share of the rows, those with the highest load, that is held out if all rows were fitted."""
SHORTEST = 1e-9
"""Seconds that stand for a cycle of 0, such as one of rounded rows without think times."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    errors: Sequence[float]
    """As shares, of throughput for closed loads, else of response."""
    within: int
    """Rows that lie in their band."""
    is_own_split: bool
    """Whether the rows were split here, by load, because the question did not split them."""

    @property
    def mape(self) -> float:
        """Mean absolute percentage error, as a share."""
        return sum(map(abs, self.errors)) / len(self.errors)


def compute_held_out(choice: Choice, points: Sequence[Point]) -> HeldOut | None:
    """The error at rows that were not fitted; if all were, of a model chosen by the lighter rows alone."""
    fit = choice.best.points
    rest = [point for point in points if point not in fit and choice.best.covers(point.at)]
    if rest:
        return compare_with_rows(choice.best, rest, is_own_split=False)
    if len(fit) < 2:
        return None
    light, heavy = split_by_load(fit)
    lighter = choose_model(light)
    if lighter is None or not lighter.best.fit.freedom:
        return None
    others = [point for point in heavy if lighter.best.covers(point.at)]
    return compare_with_rows(lighter.best, others, is_own_split=True) if others else None


def split_by_load(points: Sequence[Point]) -> tuple[list[Point], list[Point]]:
    """The rows with lower and with higher offered load: users by the shortest cycle.

    Not by the measured throughput, which falls at a host that thrashes.
    """
    ordered = sorted(
        points, key=lambda point: (point.at.users / max(shortest_cycle(points, point.at), SHORTEST), point.at.users)
    )
    count = len(ordered) - max(1, round(PART * len(ordered)))
    return ordered[:count], ordered[count:]


def compare_with_rows(model: FittedModel, rows: Sequence[Point], is_own_split: bool) -> HeldOut:
    errors, within = [relative_error(point, model.response(point.at)) for point in rows], 0
    for point in rows:
        measured, predicted = point.response or point.by_law, response_band(model, point.at)
        within += bool(measured and measured.low <= predicted.high and measured.high >= predicted.low)
    return HeldOut(errors, within, is_own_split)
