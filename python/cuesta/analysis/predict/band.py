"""The 90 % band of a prediction, by profiling its sum of squares.

The band reaches from the least to the largest prediction by parameters whose sum of squares stays below S·(1 + t²/ν)
(D. M. Bates and D. G. Watts, Nonlinear Regression Analysis, 1988, §6.1), or below S + z²·σ², where σ is the largest
standard error of a row: a few rows may lie near a model by chance. Near saturation it is asymmetric. Without degrees of
freedom it is what the rounding of the rows allows.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from statistics import NormalDist

from cuesta.analysis.certainty import CONFIDENCE, student
from cuesta.analysis.models.least_squares import fit
from cuesta.analysis.predict.fitting import FittedModel, fit_form, list_starts, make_residuals
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.points import Conditions
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
EDGE_TOLERANCE = 5e-3
"""Relative tolerance of the step to an edge."""
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
    bands = [profile_band(scaled, predict) for scaled in (model, *scale_meters(model))]
    return Band(min(band.low for band in bands), max(band.high for band in bands))


@lru_cache(maxsize=256)
def response_band(model: FittedModel, at: Conditions) -> Band:
    """The band of the mean response of a load, in seconds."""
    return band(model, lambda refit: refit.response(at))


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


def find_edge(model: FittedModel, predict: Predict, allowed: float, direction: int) -> float:
    """Bracket the log ratio to the prediction at which √(S − S_min) is the allowance, then find the root.

    √(S − S_min) grows about in proportion to the log ratio, the step, which gives the next one.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to load

    centre = predict(model)
    if not 0 < centre < math.inf:
        return centre
    others = list_starts(model.form, model.parameters, model.points)
    fits = {0.0: model.values}

    @cache
    def excess(step: float) -> float:
        """√(S − S_min) less its allowance, at most three times that, also where no parameters predict the number."""
        if not step:
            return -allowed
        near = sorted(fits, key=lambda known: abs(known - step))[:2]
        starts = [extrapolate_start(fits, near, step), fits[near[0]], *others]
        squares, values = fit_with_target(model, predict, centre * math.exp(direction * step), starts)
        if squares < math.inf:
            fits[step] = values
        return min(math.sqrt(max(squares - model.fit.squares, 0.0)) - allowed, 3 * allowed)

    near, far = 0.0, FIRST_STEP
    while (reached := excess(far)) <= 0:
        near, far = far, far * min(max(1.1 * allowed / (reached + allowed + 1e-300), 2.0), 8.0)
        if far > LARGEST_LOG_RATIO:
            return 0.0 if direction < 0 else math.inf
    step = brentq(excess, near, far, xtol=EDGE_TOLERANCE * FIRST_STEP, rtol=EDGE_TOLERANCE)
    return centre * math.exp(direction * step)


def extrapolate_start(fits: Mapping[float, Sequence[float]], near: Sequence[float], step: float) -> Sequence[float]:
    """A start for the fit at `step`, extrapolated linearly from the fits at the two nearest steps, if there are two."""
    one, other = near[0], near[-1]
    share = (step - one) / (other - one) if other != one else 0.0
    return [a + share * (b - a) for a, b in zip(fits[one], fits[other], strict=True)]


def fit_with_target(
    model: FittedModel, predict: Predict, target: float, starts: Sequence[Sequence[float]]
) -> tuple[float, Sequence[float]]:
    """The least sum of squares with which the model predicts `target`, and its parameters; infinite if none does.

    The first fit from `starts` that succeeds counts. A fit with a delay at its bound, 0, may be a local minimum: then
    the best of all counts.
    """
    weight = TARGET_WEIGHT * math.sqrt(model.squares) / 0.01
    row_residuals = make_residuals(model.form, model.parameters, model.points)

    def residuals(values: Sequence[float]) -> list[float]:
        value = predict(replace(model, values=values))
        miss = math.log(value / target) if 0 < value < math.inf else math.copysign(LARGEST_LOG_RATIO, value - target)
        return [*row_residuals(values), weight * miss]

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
            throughput, response = move_to_end(point.throughput, end), move_to_end(point.response, end)
            moved = replace(point, throughput=throughput, response=response)
            if other := fit_form(model.form, [*model.points[:number], moved, *model.points[number + 1 :]]):
                predictions.append(predict(other))
    return Band(min(predictions), max(predictions))


def move_to_end(quantity: Quantity | None, end: str) -> Quantity | None:
    """A figure at one end, `low` or `high`, of its bounds; unchanged if that is 0 or infinite."""
    value: float = getattr(quantity, end) if quantity else 0.0
    return Quantity.exactly(value) if quantity and 0 < value < math.inf else quantity
