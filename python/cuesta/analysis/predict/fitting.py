"""Fits a form to rows: delays and demands by name, so that configurations share what they have in common.

Errors are seconds for paced loads, whose meters round to whole milliseconds at any load; for closed loads they are
relative: of the response if it was timed, else of the throughput.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from cuesta.analysis.models.least_squares import Errors, Fit, criterion, fit
from cuesta.analysis.models.network import Network, Station
from cuesta.analysis.predict.forms.form import Form
from cuesta.analysis.predict.points import Conditions, Point

FINEST = 1e-3
"""Relative error below which no measurement of a load is believed to be."""
WAY_OFF = 1e3
"""The error of a response without a bound."""
LARGEST = 50.0
"""The largest logarithm of a demand in seconds that a fit may try, and the least one, negative."""
DEMANDS = (0.5, 0.9, 0.1, 1.0)
"""Shares of the largest demand that the rows allow, to begin fits with."""
DELAYS = (0.7, 0.1)
"""Shares of the shortest response, to begin fits with; of all pairs of these shares the best fit counts.

The sum of squares has several minima: rows of a bound change sides, and a delay or a demand may be at its end.
"""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The numbers that a fit may change, as one list: delays, logarithms of demands, and the form's own."""

    delays: tuple[str, ...]
    demands: tuple[str, ...]
    shape: int

    @property
    def count(self) -> int:
        return len(self.delays) + len(self.demands) + self.shape

    def reader(self, at: Conditions) -> Callable[[Sequence[float]], tuple[float, float, Sequence[float]]]:
        """A function from the values to the delay, the demand, and the form's own numbers of a load.

        Delay and demand are in seconds. A sum of delays below 0, which a fit may try, counts as 0.
        """
        delays = [self.delays.index(name) for name in at.delays] if self.delays and at.known_delay is None else []
        known = at.known_delay or 0.0
        place = len(self.delays) + self.demands.index(at.demand) if self.demands else None
        own = len(self.delays) + len(self.demands)

        def read(values: Sequence[float]) -> tuple[float, float, Sequence[float]]:
            delay = max(sum([values[each] for each in delays]), 0.0) if delays else known
            return delay, 0.0 if place is None else math.exp(min(max(values[place], -LARGEST), LARGEST)), values[own:]

        return read

    def covers(self, at: Conditions) -> bool:
        """Whether the fit says something on a configuration."""
        delays = at.known_delay is not None or not self.delays or set(at.delays) <= set(self.delays)
        return delays and (not self.demands or at.demand in self.demands)


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """A form with its parameters. Each is equal to itself alone, so that it can be a key."""

    form: Form
    parameters: Parameters
    values: Sequence[float]
    fit: Fit
    points: Sequence[Point]
    """The rows that it was fitted to."""

    @property
    def squares(self) -> float:
        """The sum of squared errors, but no less than chance makes it."""
        return max(self.fit.squares, sum(self.variances))

    @property
    def variances(self) -> list[float]:
        """The squared standard error of each row, but no less than that of a measurement as exact as can be."""
        return [max(standard_error(point), FINEST * self.unit) ** 2 for point in self.points]

    @property
    def unit(self) -> float:
        """The error of all of a row: the mean response in seconds of paced loads, 1 of closed ones."""
        paced = [timed(point) for point in self.points if point.at.is_paced]
        return sum(paced) / len(paced) if paced else 1.0

    @property
    def information(self) -> float:
        """Akaike's corrected criterion; infinite if there are too few rows for it."""
        return criterion(self.squares, self.fit.rows, self.parameters.count)

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
        """The station that saturates first."""
        network = self.network(at)
        return network.bottleneck if network else None

    def saturation(self, at: Conditions) -> float:
        """The number of users who keep the limiting station busy: N*; infinite if the model has none."""
        network = self.network(at)
        return users_at_saturation(network, at) if network else math.inf


def users_at_saturation(network: Network, at: Conditions) -> float:
    """The number of users who keep the limiting station busy."""
    return network.most_throughput * at.cycle if at.cycle is not None else network.saturation


def throughput(at: Conditions, response: float) -> float:
    """Transactions a second of users with this response."""
    return at.users / (max(at.cycle, response) if at.cycle is not None else response + at.own)


def relative_error(point: Point, response: float) -> float:
    """How far a predicted response is off a row, as a share of throughput for closed loads, else of response."""
    if point.throughput and not point.at.is_paced:
        return throughput(point.at, response) / point.throughput.value - 1
    return response / timed(point) - 1


def error_beyond_bounds(point: Point, response: float) -> float:
    """The relative error of a predicted response; 0 if it lies in the bounds of the row, of rounding or of chance."""
    is_rate = bool(point.throughput and not point.at.is_paced)
    found = point.throughput if is_rate else point.response or point.by_law
    said = throughput(point.at, response) if is_rate else response
    return 0.0 if found and found.low <= said <= found.high else relative_error(point, response)


def error(point: Point) -> Callable[[float], float]:
    """A function from a predicted response to how far it is off a row, in the fit's measure."""
    if point.at.is_paced:
        seconds = timed(point)
        return lambda response: response - seconds if response < math.inf else WAY_OFF
    if point.response is not None:
        log = math.log(point.response.value)
        return lambda response: math.log(max(response, 1e-12)) - log if response < math.inf else WAY_OFF
    assert point.throughput
    rate = point.throughput.value
    return lambda response: math.log(throughput(point.at, response) / rate) if response < math.inf else WAY_OFF


def standard_error(point: Point) -> float:
    """The standard error of a row in the fit's measure: its bounds are two of them, or of rounding, on either side."""
    found = point.response or point.throughput
    if found is None or found.high == math.inf or (point.at.is_paced and point.response is None):
        return 0.0
    return (found.high - found.low) / 4 / (1.0 if point.at.is_paced else found.value)


def timed(point: Point) -> float:
    """The response of a row, in seconds: timed, or by the response-time law."""
    found = point.response or point.by_law
    assert found
    return found.value


def parameters_of(form: Form, points: Sequence[Point]) -> Parameters:
    """What a form has to fit to rows."""
    unknown = [point.at for point in points if point.at.known_delay is None] if form.has_delay else []
    delays = dict.fromkeys(name for at in unknown for name in at.delays)
    demands = dict.fromkeys(point.at.demand for point in points) if form.has_demand else {}
    return Parameters(tuple(delays), tuple(demands), len(form.shape))


def fitted(form: Form, points: Sequence[Point]) -> FittedModel | None:
    """Fit a form; None if it does not apply to the rows, or there are fewer rows than parameters."""
    if not points or not form.applies(points):
        return None
    parameters = parameters_of(form, points)
    if parameters.count > len(points):
        return None
    found = [fit(errors(form, parameters, points), start) for start in starts(form, parameters, points)]
    best = min(found, key=lambda each: each.squares)
    return FittedModel(form, parameters, best.parameters, best, points)


def errors(form: Form, parameters: Parameters, points: Sequence[Point]) -> Errors:
    rows = [(point.at, parameters.reader(point.at), error(point)) for point in points]
    return lambda values: [off(form.response(at, *read(values))) for at, read, off in rows]


def starts(form: Form, parameters: Parameters, points: Sequence[Point]) -> list[list[float]]:
    """The parameters that fits begin with: pairs of a long or short delay and a station that is more or less busy."""
    least = max(min(timed(point) for point in points), 1e-6)
    if not form.has_delay and parameters.demands:
        return [[math.log(alone(points)), *form.shape]]
    servers: int = getattr(form, "servers", 1)
    most = [servers * greatest(points, name) for name in parameters.demands]
    delays = [[share * least, *[0.0] * (len(parameters.delays) - 1)] for share in DELAYS] if parameters.delays else [[]]
    demands = [[math.log(share * each) for each in most] for share in DEMANDS] if most else [[]]
    return [[*delay, *demand, *form.shape] for delay, demand in product(delays, demands)]


def alone(points: Sequence[Point]) -> float:
    """Seconds of a whole transaction of one user, from the row with the fewest users."""
    least = min(points, key=lambda point: point.at.users)
    return least.at.users / (least.rate or 1.0)


def greatest(points: Sequence[Point], name: str) -> float:
    """The largest demand that one server can have at the rates that were measured, in seconds."""
    return 1 / max(point.rate or 0.0 for point in points if point.at.demand == name)


def known_parts(model: FittedModel) -> Mapping[str, float]:
    """The fitted delays and demands by their names, in seconds."""
    names = model.parameters.delays
    least = 0.0 if len(names) == 1 else -math.inf  # a delay that is one of several may shorten the others
    delays = {f"R₀ {name}": max(value, least) for name, value in zip(names, model.values, strict=False)}
    logs = model.values[len(delays) :]
    return delays | {f"D {name}": math.exp(log) for name, log in zip(model.parameters.demands, logs, strict=False)}


def all_parts(model: FittedModel) -> dict[str, float]:
    """The fitted delays and demands, and the demands of meters, in seconds."""
    metered: Mapping[str, Sequence[Station]] = getattr(model.form, "stations", {})
    named = {f"D {station.name}": station.demand for stations in metered.values() for station in stations}
    return {**known_parts(model), **named}
