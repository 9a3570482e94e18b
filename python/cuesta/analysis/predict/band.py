"""The 90 % band of a prediction, by profiling its sum of squares.

The band reaches from the least to the largest prediction by parameters whose sum of squares stays below S·(1 + t²/ν)
(D. M. Bates and D. G. Watts, Nonlinear Regression Analysis, 1988, §6.1), or below S + z²·σ², where σ is the largest
standard error of a row: a few rows may lie near a model by chance. Near saturation it is asymmetric. Without degrees of
freedom it is what the rounding of the rows allows.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

from cuesta.analysis.certainty import CONFIDENCE, student
from cuesta.analysis.models.least_squares import fit
from cuesta.analysis.predict.fitting import FittedModel, fit_form, list_starts, residuals_function
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.points import Conditions, Point
from cuesta.analysis.quantity import Quantity

NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""Standard errors on either side of a two-sided interval."""
METER_ERROR = 0.05
"""Relative error that a meter may have: that of clock ticks."""
TARGET_WEIGHT = 30.0
"""Weight of the constraint on the prediction, relative to all rows together."""
TARGET_TOLERANCE = 0.005
"""Largest log ratio of a constrained fit's prediction to its target."""
FIRST_STEP = 0.02
"""The first log ratio by which the prediction is moved."""
EDGE_TOLERANCE = 1e-3
"""Tolerance of the root at the edge, as a share of the allowance."""
NARROWEST_BRACKET = 1e-3
"""Width at which bracketing an edge stops, relative to its step: where a parameter is at its bound there is no
root."""
LARGEST_LOG_RATIO = 7.0
"""The log ratio beyond which a band counts as infinite: a factor of 1,000."""

Predict = Callable[[FittedModel], float]
"""A positive number that a model predicts."""


@dataclass(frozen=True, slots=True)
class Band:
    """The least and the largest value that the rows allow; 0 or infinite where they set no bound."""

    low: float
    high: float

    @property
    def ratio(self) -> float:
        """high / low; 1 if both are 0."""
        if self.low > 0:
            return self.high / self.low
        return math.inf if self.high > 0 else 1.0


def band(model: FittedModel, predict: Predict) -> Band:
    """The band of a number that a model predicts; with metered demands, also over the error of the meters."""
    bands = [profile_band(each, predict) for each in (model, *scale_meters(model))]
    return Band(min(each.low for each in bands), max(each.high for each in bands))


@lru_cache(maxsize=256)
def response_band(model: FittedModel, at: Conditions) -> Band:
    """The band of the mean response of a load, in seconds."""
    return band(model, lambda each: each.response(at))


def scale_meters(model: FittedModel) -> Iterator[FittedModel]:
    """A metered model refitted with all demands METER_ERROR lower and higher."""
    if isinstance(model.form, Metered):
        for factor in (1 - METER_ERROR, 1 + METER_ERROR):
            if other := fit_form(model.form.scaled(factor), model.points):
                yield other


def profile_band(model: FittedModel, predict: Predict) -> Band:
    if model.fit.freedom < 1:
        return rounding_band(model, predict)
    spread = math.sqrt(model.fit.squares / model.fit.freedom) * student(model.fit.freedom)
    allowed = max(spread, math.sqrt(max(model.variances)) * NORMAL)
    return Band(find_edge(model, predict, allowed, -1), find_edge(model, predict, allowed, 1))


@dataclass(frozen=True, slots=True)
class ConstrainedFit:
    """The best fit under the constraint that it predicts another number."""

    step: float
    """The absolute log ratio of that number to the unconstrained prediction."""
    excess: float
    """√(S − S_min) less its allowance; the edge of the band is at 0."""
    values: Sequence[float]


def find_edge(model: FittedModel, predict: Predict, allowed: float, direction: int) -> float:
    """Bracket the step at which √(S − S_min) is the allowance, then find the root.

    √(S − S_min) grows about in proportion to the step, which gives the next step.
    """
    centre = predict(model)
    if not 0 < centre < math.inf:
        return centre
    others = list_starts(model.form, model.parameters, model.points)

    def refit(step: float, *starts: Sequence[float]) -> ConstrainedFit:
        squares, values = fit_with_target(model, predict, centre * math.exp(direction * step), [*starts, *others])
        return ConstrainedFit(step, math.sqrt(max(squares - model.fit.squares, 0.0)) - allowed, values)

    first = near = ConstrainedFit(0.0, -allowed, model.values)
    far = refit(FIRST_STEP, model.values)
    while far.excess <= 0:
        near, step = far, far.step * min(max(1.1 * allowed / (far.excess + allowed + 1e-300), 2.0), 8.0)
        if step > LARGEST_LOG_RATIO:
            return 0.0 if direction < 0 else math.inf
        far = refit(step, extrapolate_start(first, near, step), near.values)
    return centre * math.exp(direction * find_root(near, far, refit, EDGE_TOLERANCE * allowed))


def find_root(
    near: ConstrainedFit, far: ConstrainedFit, refit: Callable[..., ConstrainedFit], tolerance: float
) -> float:
    """The step at which the excess is 0, by regula falsi with the Illinois modification."""
    low, high, last = near.excess, far.excess, 0
    while far.step - near.step > NARROWEST_BRACKET * max(far.step, FIRST_STEP):
        step = near.step + (low / (low - high) if high < math.inf else 0.5) * (far.step - near.step)
        middle = refit(step, *([extrapolate_start(near, far, step)] if high < math.inf else []), near.values)
        if abs(middle.excess) <= tolerance:
            return step
        side = 1 if middle.excess > 0 else -1
        if side > 0:
            far, high, low = middle, middle.excess, low / 2 if side == last else low
        else:
            near, low, high = middle, middle.excess, high / 2 if side == last else high
        last = side
    return near.step


def extrapolate_start(one: ConstrainedFit, other: ConstrainedFit, step: float) -> list[float]:
    """A start for the fit at `step`, extrapolated linearly from two others."""
    share = (step - one.step) / (other.step - one.step)
    return [a + share * (b - a) for a, b in zip(one.values, other.values, strict=True)]


def fit_with_target(
    model: FittedModel, predict: Predict, target: float, starts: Sequence[Sequence[float]]
) -> tuple[float, Sequence[float]]:
    """The least sum of squares with which the model predicts `target`, and its parameters; infinite if none does.

    The first fit from `starts` that succeeds counts. A fit with a delay at its bound, 0, may be a local minimum: then
    the best of all counts.
    """
    weight = TARGET_WEIGHT * math.sqrt(model.squares) / 0.01
    of_rows = residuals_function(model.form, model.parameters, model.points)

    def residuals(values: Sequence[float]) -> list[float]:
        value = predict(replace(model, values=values))
        miss = math.log(value / target) if 0 < value < math.inf else math.copysign(LARGEST_LOG_RATIO, value - target)
        return [*of_rows(values), weight * miss]

    best = math.inf, starts[0]
    for start in starts:
        refit = fit(residuals, start)
        *errors, miss = refit.errors
        squares = sum(error**2 for error in errors)
        if abs(miss) <= weight * TARGET_TOLERANCE and squares < best[0]:
            best = squares, refit.parameters
            if all(delay > 0 for delay in refit.parameters[: len(model.parameters.delays)]):
                break
    return best


def rounding_band(model: FittedModel, predict: Predict) -> Band:
    """The range of predictions if one row at a time is at either end of its bounds."""
    predictions = [predict(model)]
    for number, point in enumerate(model.points):
        for end in ("low", "high"):
            others = [*model.points[:number], round_to_end(point, end), *model.points[number + 1 :]]
            if other := fit_form(model.form, others):
                predictions.append(predict(other))
    return Band(min(predictions), max(predictions))


def round_to_end(point: Point, end: str) -> Point:
    """A row with its figures at one end, `low` or `high`, of their bounds."""
    return replace(point, throughput=end_of_bounds(point.throughput, end), response=end_of_bounds(point.response, end))


def end_of_bounds(quantity: Quantity | None, end: str) -> Quantity | None:
    value: float = getattr(quantity, end) if quantity else 0.0
    return Quantity.exactly(value) if quantity and 0 < value < math.inf else quantity
