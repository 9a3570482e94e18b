"""Where a fitted model saturates, as it is and with changes: users, throughput, and the users that a limit allows.

A change is certain, the model is not: every band is that of the model's own parameters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cuesta.analysis.models.network import Network, Station
from cuesta.analysis.predict.band import Band, Predict, band
from cuesta.analysis.predict.changes import Change, apply, most_users, resolved, response_of, stations_of
from cuesta.analysis.predict.fitting import FittedModel, throughput, users_at_saturation
from cuesta.analysis.predict.forms.asymptote import Asymptote
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.points import KEYS, Conditions, Measurements, paces
from cuesta.analysis.predict.prediction import OPEN, Figure, SystemPrediction, figure
from cuesta.analysis.predict.saturation import BELIEVED, apart
from cuesta.errors import RefusedError
from cuesta.figures.limit import Limit

RESPONSES, ECHOES = ("response", "response_from_sent"), ("echo", "echo_from_sent")
"""Metrics of which a model gives the mean: of rows of transactions, and of keys."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 90 % band."""

    value: float
    band: Band
    not_reported: str = ""
    """Why it is not reported; empty if it is."""

    @property
    def is_determined(self) -> bool:
        """Whether the rows tell at all how large it is."""
        return not self.why_left_out

    @property
    def why_left_out(self) -> str:
        """Why the rows do not tell how large it is; empty if they do."""
        if self.not_reported:
            return self.not_reported
        return "" if math.isfinite(self.value) and self.band.ratio <= BELIEVED else OPEN


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much a configuration can do with its users' own pace."""

    at: Conditions
    """The load, with any number of users."""
    stations: Sequence[Station]
    """The stations at which transactions wait."""
    saturation: Estimate
    """N*: users."""
    most: float
    """Transactions a second at saturation."""
    allowed: Estimate | None
    """Users whose mean response keeps the limit; None without a limit."""


@dataclass(frozen=True, slots=True)
class ChangedFigure:
    """One load, with the changes."""

    before: Figure
    """The load without the changes."""
    response: Estimate
    throughput: float

    @property
    def at(self) -> Conditions:
        return self.before.at


def mean_limit(limit: Limit, measurements: Measurements) -> float:
    """The seconds that a limit allows a mean response. Raises RefusedError for any other limit."""
    is_of_keys = any(point.at.unit.name == KEYS for point in measurements.points)
    timed, other = (ECHOES, RESPONSES) if is_of_keys else (RESPONSES, ECHOES)
    if limit.figure.metric in other:
        raise RefusedError(
            f"--limit {limit}: the rows have {timed[0]} times, and no {limit.figure.metric}",
            f"as --limit '{timed[0]}.mean < 1s'",
        )
    if limit.figure.metric not in timed or limit.figure.statistic != "mean" or limit.comparison not in ("<", "<="):
        raise RefusedError(
            f"--limit {limit}: the model gives means, and no other figure; simulated, means and percentiles",
            "as --limit 'response.mean < 1s'; --simulate gives percentiles of the model, `cuesta search` measures them",
        )
    return limit.value


def capacities(
    system: SystemPrediction, loads: Sequence[Conditions], changes: Sequence[Change], limit: float | None
) -> list[Capacity]:
    """The capacity of each configuration and pace among the loads. None of a model without stations."""
    return [each for at in paces(loads) if (each := capacity(system, at, changes, limit))]


def capacity(
    system: SystemPrediction, at: Conditions, changes: Sequence[Change], limit: float | None
) -> Capacity | None:
    network = network_with(system, system.model, at, changes)
    if network is None or network.bottleneck is None or not network.slowest:
        return None

    def saturated(model: FittedModel) -> float:
        found = network_with(system, model, at, changes)
        return users_at_saturation(found, at) if found else math.inf

    users = saturated(system.model)
    most = estimate(system, saturated, system.unchecked(at, users))
    allowed = None if limit is None else allowed_users(system, at, changes, limit)
    return Capacity(at, network.queueing, most, network.most_throughput, allowed)


def allowed_users(system: SystemPrediction, at: Conditions, changes: Sequence[Change], limit: float) -> Estimate:
    """How many users keep a mean response, in seconds, and why that is not reported. Needs a model with stations."""

    def kept(model: FittedModel, changes: Sequence[Change] = changes) -> float:
        found = network_with(system, model, at, changes)
        return most_users(found, at, limit, is_bound(model)) if found else math.inf

    why = why_no_limit(system, at, kept(system.model, changes=[]))
    if changes:
        why = why or system.unchecked(at, kept(system.model))
    return estimate(system, kept, why)


def estimate(system: SystemPrediction, predict: Predict, not_reported: str) -> Estimate:
    """What a model says; without a band if it is not reported."""
    value = predict(system.model)
    within = Band(0.0, math.inf) if not_reported else band(system.model, predict)
    return Estimate(value, within, not_reported)


def why_no_limit(system: SystemPrediction, at: Conditions, users: float) -> str:
    """Why the users that a limit allows without changes are not reported: for the reasons that a load of them is not.

    Forms that disagree on the response R of a closed load still agree on N = X·(R + Z + K) if they do on R + Z + K.
    """
    if users == math.inf:
        return system.unchecked(at, users)
    found = figure(system, replace(at, users=max(math.floor(users), 1)))
    cycles = Band(found.spread.low + at.own, found.spread.high + at.own)
    if found.is_disputed and not at.is_paced and cycles.ratio <= 1 + system.margin:
        return ""
    return found.not_reported or system.unchecked(at, users)


def changed_figures(system: SystemPrediction, changes: Sequence[Change]) -> list[ChangedFigure]:
    """What the loads would see with the changes. Raises InputError for an unknown station."""
    return [changed_figure(system, each, changes) for each in system.figures]


def changed_figure(system: SystemPrediction, before: Figure, changes: Sequence[Change]) -> ChangedFigure:
    at = before.at
    stations_of(system.model, at)

    def response(model: FittedModel) -> float:
        network = network_with(system, model, at, changes)
        assert network
        return response_of(network, at, is_bound(model))

    value = response(system.model)
    return ChangedFigure(before, estimate(system, response, before.not_reported), throughput(at, value))


def is_bound(model: FittedModel) -> bool:
    """Whether the model is a bound, which changes must leave it."""
    return isinstance(model.form, Asymptote)


def network_with(
    system: SystemPrediction, model: FittedModel, at: Conditions, changes: Sequence[Change]
) -> Network | None:
    """The stations of a model, with the changes."""
    network = model.network(at)
    return apply(network, changes, names(system, at), counted_servers(system, at)) if network and changes else network


def names(system: SystemPrediction, at: Conditions) -> dict[str, str]:
    """The names that a change may use for the stations of a model.

    A station that was fitted to responses is called `station`; if a meter agrees that it is the one that saturates, the
    metered resource's name means it too.
    """
    if isinstance(system.model.form, Metered):
        return {station.name: station.name for station in system.model.form.stations.get(at.demand, ())}
    return {"station": "station"} | dict.fromkeys(agreeing(system, at), "station")


def agreeing(system: SystemPrediction, at: Conditions) -> list[str]:
    """The metered resource that saturates where a fitted station does; empty if none does."""
    own = [each for each in system.saturations if each.at.configuration == at.configuration]
    response = next((each for each in own if each.by == "response"), None)
    return [each.by for each in own if response and each is not response and not apart(response, each)][:1]


def counted_servers(system: SystemPrediction, at: Conditions) -> dict[str, float]:
    """How many servers a meter counted of a station that was fitted to responses."""
    own = [point for point in system.points if point.at.configuration == at.configuration]
    counts = [point.servers.get(name, 1) for name in agreeing(system, at) for point in own]
    return {"station": max(counts)} if counts else {}


def described(system: SystemPrediction, change: Change) -> str:
    """A change in words; other servers with how many there are now."""
    at = system.figures[0].at
    network = system.model.network(at)
    if change.servers is None or network is None:
        return str(change)
    name = resolved(change.station, names(system, at), network)
    servers = next(station.servers for station in network.stations if station.name == name)
    return f"{change} instead of {max(servers, counted_servers(system, at).get(name, 1)):g}"
