"""The 90 % band of a prediction, by the profile of its sum of squares.

All parameters whose sum of squares stays below S·(1 + t²/ν) are possible (D. M. Bates and D. G. Watts, Nonlinear
Regression Analysis, 1988, §6.1), and so are those whose sum stays below S + z²·σ², where σ is the largest standard
error of a row: a few rows may lie near a model by chance. The band is from the least to the largest prediction among
them. Near saturation it is far from symmetrical. A fit with as many parameters as rows leaves no error to judge by:
then the band is what the rounding of the rows allows.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

from cuesta.analysis.certainty import CONFIDENCE, student
from cuesta.analysis.history.quantity import Quantity
from cuesta.analysis.models.least_squares import Errors, fit
from cuesta.analysis.predict.fitting import FittedModel, errors, fitted, starts
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.points import Conditions, Point

NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""Standard errors on either side of a two-sided interval."""
METER_ERROR = 0.05
"""How far a meter may be off: the error of clock ticks."""
PULL = 30.0
"""How much more a demanded prediction weighs than all rows together."""
NEAR = 0.005
"""How near to the demanded prediction a fit must come, as a logarithm."""
FIRST_STEP = 0.02
"""How far the prediction is first moved, as a logarithm."""
ENOUGH = 1e-3
"""How near to the edge a step must come, as a share of what the rows allow."""
NARROW = 1e-3
"""The least interval in which an edge is looked for, as a share of FIRST_STEP or of its step if that is longer.

Where a parameter is at its end, a prediction cannot be moved further, and there is no crossing to be found.
"""
FURTHEST = 7.0
"""The largest logarithm of a ratio to the prediction that is looked for: a factor of 1,000 says as little as none."""

Predict = Callable[[FittedModel], float]
"""A positive number that a model says."""


@dataclass(frozen=True, slots=True)
class Band:
    """The lowest and the highest value that the rows allow; infinite where they set no bound."""

    low: float
    high: float

    @property
    def ratio(self) -> float:
        """1 of a number that is 0."""
        if self.low > 0:
            return self.high / self.low
        return math.inf if self.high > 0 else 1.0


def band(model: FittedModel, predict: Predict) -> Band:
    """The band of a number that a model predicts; with metered demands, over what the meters may be off."""
    found = [of_rows(each, predict) for each in (model, *with_wrong_meters(model))]
    return Band(min(each.low for each in found), max(each.high for each in found))


@lru_cache(maxsize=256)
def response_band(model: FittedModel, at: Conditions) -> Band:
    """The band of the mean response of a load, in seconds."""
    return band(model, lambda each: each.response(at))


def with_wrong_meters(model: FittedModel) -> Iterator[FittedModel]:
    """The model with all meters too low and too high, its delays fitted again."""
    if isinstance(model.form, Metered):
        for factor in (1 - METER_ERROR, 1 + METER_ERROR):
            if other := fitted(model.form.scaled(factor), model.points):
                yield other


def of_rows(model: FittedModel, predict: Predict) -> Band:
    """The band of the fitted parameters."""
    if model.fit.freedom < 1:
        return of_rounding(model, predict)
    spread = math.sqrt(model.fit.squares / model.fit.freedom) * student(model.fit.freedom)
    allowed = max(spread, math.sqrt(max(model.variances)) * NORMAL)
    return Band(edge(model, predict, allowed, -1), edge(model, predict, allowed, 1))


@dataclass(frozen=True, slots=True)
class Moved:
    """The best fit among those that predict another number."""

    step: float
    """The logarithm of that number's ratio to the prediction, without its sign."""
    excess: float
    """The root of the sum of squares above its least one, minus the root of what the rows allow."""
    values: Sequence[float]


def edge(model: FittedModel, predict: Predict, allowed: float, direction: int) -> float:
    """Move the prediction until the root of the sum of squares above its least one is more than is allowed.

    The root of the squares grows about in proportion to the step, so each fit tells how far the next one should go.
    """
    centre = predict(model)
    if not 0 < centre < math.inf:
        return centre
    rows = errors(model.form, model.parameters, model.points)

    others = starts(model.form, model.parameters, model.points)

    def moved(step: float, *begins: Sequence[float]) -> Moved:
        squares, values = pulled(model, predict, rows, centre * math.exp(direction * step), [*begins, *others])
        return Moved(step, math.sqrt(max(squares - model.fit.squares, 0.0)) - allowed, values)

    first = near = Moved(0.0, -allowed, model.values)
    far = moved(FIRST_STEP, model.values)
    while far.excess <= 0:
        near, step = far, far.step * min(max(1.1 * allowed / (far.excess + allowed + 1e-300), 2.0), 8.0)
        if step > FURTHEST:
            return 0.0 if direction < 0 else math.inf
        far = moved(step, between(first, near, step), near.values)
    return centre * math.exp(direction * crossing(near, far, moved, ENOUGH * allowed))


def crossing(near: Moved, far: Moved, moved: Callable[..., Moved], enough: float) -> float:
    """The step at which the excess is zero, by regula falsi as the Illinois algorithm bends it."""
    low, high, last = near.excess, far.excess, 0
    while far.step - near.step > NARROW * max(far.step, FIRST_STEP):
        step = near.step + (low / (low - high) if high < math.inf else 0.5) * (far.step - near.step)
        found = moved(step, *([between(near, far, step)] if high < math.inf else []), near.values)
        if abs(found.excess) <= enough:
            return step
        side = 1 if found.excess > 0 else -1
        if side > 0:
            far, high, low = found, found.excess, low / 2 if side == last else low
        else:
            near, low, high = found, found.excess, high / 2 if side == last else high
        last = side
    return near.step


def between(one: Moved, other: Moved, step: float) -> list[float]:
    """Where to begin a fit, on the straight line through two others."""
    share = (step - one.step) / (other.step - one.step)
    return [a + share * (b - a) for a, b in zip(one.values, other.values, strict=True)]


def pulled(
    model: FittedModel, predict: Predict, rows: Errors, target: float, begins: Sequence[Sequence[float]]
) -> tuple[float, Sequence[float]]:
    """The least sum of squares with which the model predicts `target`, and its parameters; infinite if none does.

    Fits begin with each of `begins` until one succeeds. One whose delay has come to its end, 0, may have been better
    off with a longer one, which no small step from there shows: then the best of all counts.
    """
    weight = PULL * math.sqrt(model.squares) / 0.01

    def with_target(values: Sequence[float]) -> list[float]:
        said = predict(replace(model, values=values))
        off = math.log(said / target) if 0 < said < math.inf else math.copysign(FURTHEST, said - target)
        return [*rows(values), weight * off]

    best = math.inf, begins[0]
    for values in begins:
        found = fit(with_target, values)
        *left, off = found.errors
        squares = sum(each**2 for each in left)
        if abs(off) <= weight * NEAR and squares < best[0]:
            best = squares, found.parameters
            if all(delay > 0 for delay in found.parameters[: len(model.parameters.delays)]):
                break
    return best


def of_rounding(model: FittedModel, predict: Predict) -> Band:
    """What the model would predict if one of its rows were at either end of its rounding."""
    found = [predict(model)]
    for number, point in enumerate(model.points):
        for end in ("low", "high"):
            others = [*model.points[:number], at_end(point, end), *model.points[number + 1 :]]
            if other := fitted(model.form, others):
                found.append(predict(other))
    return Band(min(found), max(found))


def at_end(point: Point, end: str) -> Point:
    """A row at one end of the bounds of what was measured."""
    return replace(
        point,
        throughput=end_of(point.throughput, end),
        response=end_of(point.response, end),
    )


def end_of(quantity: Quantity | None, end: str) -> Quantity | None:
    value: float = getattr(quantity, end) if quantity else 0.0
    return Quantity.exactly(value) if quantity and 0 < value < math.inf else quantity
