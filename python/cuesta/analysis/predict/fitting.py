"""Fits a form to rows by least squares. Delays and demands have names, so that configurations share them.

Residuals are seconds for paced loads, whose meters round to whole milliseconds at any load; for closed loads they are
log ratios: of the response if it was timed, else of the throughput.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from cuesta.analysis.models.least_squares import Fit, Residuals, corrected_criterion, fit
from cuesta.analysis.models.network import Network, Station
from cuesta.analysis.predict.forms.form import Form
from cuesta.analysis.predict.points import Conditions, Point

LEAST_ERROR = 1e-3
"""Least relative standard error that a measurement is believed to have."""
UNBOUNDED_RESIDUAL = 1e3
"""The residual of an infinite response."""
LARGEST_LOG = 50.0
"""A fit tries demands of e^−LARGEST_LOG to e^LARGEST_LOG seconds."""
START_DEMANDS = (0.5, 0.9, 0.1, 1.0)
"""Demands that fits start from, as shares of the largest one that the rows allow."""
START_DELAYS = (0.7, 0.1)
"""Delays that fits start from, as shares of the shortest response. The best fit of all pairs counts: the sum of squares
has several minima, where a row crosses from one asymptote to the other or a delay is at its lower bound, 0."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The layout of a fit's parameter vector: delays, logarithms of demands, and the form's own numbers."""

    delays: tuple[str, ...]
    demands: tuple[str, ...]
    shape: int

    @property
    def count(self) -> int:
        return len(self.delays) + len(self.demands) + self.shape

    def reader(self, at: Conditions) -> Callable[[Sequence[float]], tuple[float, float, Sequence[float]]]:
        """A function from the vector to a load's delay and demand, in seconds, and the form's own numbers.

        A sum of delays below 0, which a fit may try, counts as 0.
        """
        delays = [self.delays.index(name) for name in at.delays] if self.delays and at.known_delay is None else []
        known = at.known_delay or 0.0
        place = len(self.delays) + self.demands.index(at.demand) if self.demands else None
        own = len(self.delays) + len(self.demands)

        def read(values: Sequence[float]) -> tuple[float, float, Sequence[float]]:
            delay = max(sum([values[index] for index in delays]), 0.0) if delays else known
            return (
                delay,
                0.0 if place is None else math.exp(min(max(values[place], -LARGEST_LOG), LARGEST_LOG)),
                values[own:],
            )

        return read

    def covers(self, at: Conditions) -> bool:
        """Whether the parameters of a configuration were fitted."""
        delays = at.known_delay is not None or not self.delays or set(at.delays) <= set(self.delays)
        return delays and (not self.demands or at.demand in self.demands)


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """A form with its parameters. Compared by identity, so that it can be a key."""

    form: Form
    parameters: Parameters
    values: Sequence[float]
    fit: Fit
    points: Sequence[Point]
    """The rows that it was fitted to."""

    @property
    def squares(self) -> float:
        """The sum of squared residuals, at least that of the rows' standard errors."""
        return max(self.fit.squares, sum(self.variances))

    @property
    def variances(self) -> list[float]:
        """The squared standard error of each row, at least LEAST_ERROR²."""
        return [max(standard_error(point), LEAST_ERROR * self.residual_scale) ** 2 for point in self.points]

    @property
    def residual_scale(self) -> float:
        """The residual that is 100 %: the mean response in seconds of paced loads, 1 of closed ones."""
        paced = [measured_response(point) for point in self.points if point.at.is_paced]
        return sum(paced) / len(paced) if paced else 1.0

    @property
    def aicc(self) -> float:
        """Akaike's corrected criterion; infinite if there are too few rows for it."""
        return corrected_criterion(self.squares, self.fit.rows, self.parameters.count)

    def covers(self, at: Conditions) -> bool:
        stations: Mapping[str, Sequence[Station]] | None = getattr(self.form, "stations", None)
        return self.parameters.covers(at) and (stations is None or at.demand in stations)

    def response(self, at: Conditions) -> float:
        """Mean seconds."""
        return self.form.response(at, *self.parameters.reader(at)(self.values))

    def throughput(self, at: Conditions) -> float:
        """Transactions a second."""
        return throughput(at, self.response(at))

    def network(self, at: Conditions) -> Network | None:
        """The stations that the model stands for, with the user's own time; None for a mere curve."""
        delay, demand, _ = self.parameters.reader(at)(self.values)
        return self.form.network(at, delay, demand)

    def limiting(self, at: Conditions) -> Station | None:
        network = self.network(at)
        return network.bottleneck if network else None

    def saturation(self, at: Conditions) -> float:
        network = self.network(at)
        return users_at_saturation(network, at) if network else math.inf


def users_at_saturation(network: Network, at: Conditions) -> float:
    """N*, the number of users who saturate the limiting station; infinite if there is none."""
    return network.most_throughput * at.cycle if at.cycle is not None else network.saturation


def throughput(at: Conditions, response: float) -> float:
    """Transactions a second of users with this response."""
    return at.users / (max(at.cycle, response) if at.cycle is not None else response + at.own_time)


def relative_error(point: Point, response: float) -> float:
    """The relative error of a predicted response: of throughput for closed loads, else of response."""
    if point.throughput and not point.at.is_paced:
        return throughput(point.at, response) / point.throughput.value - 1
    return response / measured_response(point) - 1


def error_beyond_bounds(point: Point, response: float) -> float:
    """The relative error of a predicted response; 0 within the bounds of rounding or chance of the row."""
    is_rate = bool(point.throughput and not point.at.is_paced)
    measured = point.throughput if is_rate else point.response or point.by_law
    predicted = throughput(point.at, response) if is_rate else response
    return 0.0 if measured and measured.low <= predicted <= measured.high else relative_error(point, response)


def make_row_residual(point: Point) -> Callable[[float], float]:
    """The residual of a row as a function of the predicted response: seconds, or a log ratio for closed loads."""
    if point.at.is_paced:
        seconds = measured_response(point)
        return lambda response: response - seconds if response < math.inf else UNBOUNDED_RESIDUAL
    if point.response is not None:
        log = math.log(point.response.value)
        return lambda response: math.log(max(response, 1e-12)) - log if response < math.inf else UNBOUNDED_RESIDUAL
    assert point.throughput
    rate = point.throughput.value
    return lambda response: (
        math.log(throughput(point.at, response) / rate) if response < math.inf else UNBOUNDED_RESIDUAL
    )


def standard_error(point: Point) -> float:
    """The standard error of a row, in the unit of its residual: a quarter of the distance between its bounds."""
    measured = point.response or point.throughput
    if measured is None or measured.high == math.inf or (point.at.is_paced and point.response is None):
        return 0.0
    return (measured.high - measured.low) / 4 / (1.0 if point.at.is_paced else measured.value)


def measured_response(point: Point) -> float:
    """Mean seconds of a row: timed, or by the response-time law."""
    measured = point.response or point.by_law
    assert measured
    return measured.value


def list_parameters(form: Form, points: Sequence[Point]) -> Parameters:
    unknown = [point.at for point in points if point.at.known_delay is None] if form.has_delay else []
    delays = dict.fromkeys(name for at in unknown for name in at.delays)
    demands = dict.fromkeys(point.at.demand for point in points) if form.has_demand else {}
    return Parameters(tuple(delays), tuple(demands), len(form.shape))


def fit_form(form: Form, points: Sequence[Point]) -> FittedModel | None:
    """The best fit from all starts; None if the form does not apply, or there are fewer rows than parameters."""
    if not points or not form.applies(points):
        return None
    parameters = list_parameters(form, points)
    if parameters.count > len(points):
        return None
    residuals = make_residuals(form, parameters, points)
    fits = [fit(residuals, start) for start in list_starts(form, parameters, points)]
    best = min(fits, key=lambda tried: tried.squares)
    return FittedModel(form, parameters, best.parameters, best, points)


def make_residuals(form: Form, parameters: Parameters, points: Sequence[Point]) -> Residuals:
    rows = [(point.at, parameters.reader(point.at), make_row_residual(point)) for point in points]
    return lambda values: [residual(form.response(at, *read(values))) for at, read, residual in rows]


def list_starts(form: Form, parameters: Parameters, points: Sequence[Point]) -> list[list[float]]:
    """The parameter vectors that fits start from: all pairs of START_DELAYS and START_DEMANDS."""
    least = max(min(measured_response(point) for point in points), 1e-6)
    if not form.has_delay and parameters.demands:
        return [[math.log(cycle_of_one_user(points)), *form.shape]]
    servers: int = getattr(form, "servers", 1)
    most = [servers * largest_demand(points, name) for name in parameters.demands]
    delays = (
        [[share * least, *[0.0] * (len(parameters.delays) - 1)] for share in START_DELAYS]
        if parameters.delays
        else [[]]
    )
    demands = [[math.log(share * demand) for demand in most] for share in START_DEMANDS] if most else [[]]
    return [[*delay, *demand, *form.shape] for delay, demand in product(delays, demands)]


def cycle_of_one_user(points: Sequence[Point]) -> float:
    """R + Z + K in seconds, from the row with the fewest users."""
    least = min(points, key=lambda point: point.at.users)
    return least.at.users / (least.rate or 1.0)


def largest_demand(points: Sequence[Point], name: str) -> float:
    """Seconds: one server of this demand would be saturated at the highest rate that was measured."""
    return 1 / max(point.rate or 0.0 for point in points if point.at.demand == name)


def fitted_parts(model: FittedModel) -> Mapping[str, float]:
    """Delays and demands by name, in seconds."""
    names = model.parameters.delays
    least = 0.0 if len(names) == 1 else -math.inf  # a delay that is one of several may shorten the others
    delays = {f"R₀ {name}": max(value, least) for name, value in zip(names, model.values, strict=False)}
    logs = model.values[len(delays) :]
    return delays | {f"D {name}": math.exp(log) for name, log in zip(model.parameters.demands, logs, strict=False)}


def named_parts(model: FittedModel) -> dict[str, float]:
    """The fitted delays and demands, and the demands of meters, in seconds."""
    metered: Mapping[str, Sequence[Station]] = getattr(model.form, "stations", {})
    named = {f"D {station.name}": station.demand for stations in metered.values() for station in stations}
    return {**fitted_parts(model), **named}
