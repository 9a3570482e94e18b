"""The capacity of a fitted model, as it is and with changes: saturation point, throughput, users within a limit.

Bands are those of the model's parameters; changes count as exact.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cuesta.analysis.models.network import Network, Station
from cuesta.analysis.predict.band import Band, Predict, band
from cuesta.analysis.predict.changes import (
    Change,
    apply_changes,
    largest_population,
    list_changeable_stations,
    mean_response,
    resolve_station,
)
from cuesta.analysis.predict.fitting import FittedModel, throughput, users_at_saturation
from cuesta.analysis.predict.forms.asymptote import Asymptote
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.points import KEYS, Conditions, Measurements, list_paces
from cuesta.analysis.predict.prediction import TOO_WIDE, Figure, Prediction, SystemPrediction, predict_load
from cuesta.analysis.predict.saturation import BELIEVED, is_apart
from cuesta.errors import RefusedError
from cuesta.figures.limit import Limit

RESPONSES, ECHOES = ("response", "response_from_sent"), ("echo", "echo_from_sent")
"""Metrics whose mean a model gives: of rows of transactions, and of keys."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 90 % band."""

    value: float
    band: Band
    not_reported: str = ""
    """Why it is withheld; empty if it is not."""

    @property
    def is_determined(self) -> bool:
        """Whether it is reported, and its band is narrow enough."""
        return not self.why_left_out

    @property
    def why_left_out(self) -> str:
        """Why it is withheld, or that its band is too wide; empty if neither."""
        if self.not_reported:
            return self.not_reported
        return "" if math.isfinite(self.value) and self.band.ratio <= BELIEVED else TOO_WIDE


@dataclass(frozen=True, slots=True)
class Capacity:
    """The capacity of a configuration at one pace."""

    at: Conditions
    """The load, with any number of users."""
    stations: Sequence[Station]
    """The queueing stations."""
    saturation: Estimate
    """N*: users."""
    most_throughput: float
    """Transactions a second at saturation."""
    allowed: Estimate | None
    """Users whose mean response keeps the limit; None without a limit."""


@dataclass(frozen=True, slots=True)
class ChangedFigure:
    """One load with the changes."""

    before: Figure
    """The prediction without the changes."""
    response: Estimate
    throughput: float

    @property
    def at(self) -> Conditions:
        return self.before.at


def read_mean_limit(limit: Limit, measurements: Measurements) -> float:
    """The limit of a mean response, in seconds. Raises RefusedError for any other limit."""
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


def derive_capacities(
    system: SystemPrediction, loads: Sequence[Conditions], changes: Sequence[Change], limit: float | None
) -> list[Capacity]:
    """The capacity of each configuration and pace among the loads; empty for a model without stations."""
    return [each for at in list_paces(loads) if (each := derive_capacity(system, at, changes, limit))]


def derive_capacity(
    system: SystemPrediction, at: Conditions, changes: Sequence[Change], limit: float | None
) -> Capacity | None:
    network = network_with(system, system.model, at, changes)
    if network is None or network.bottleneck is None or not network.slowest:
        return None

    def saturated(model: FittedModel) -> float:
        network = network_with(system, model, at, changes)
        return users_at_saturation(network, at) if network else math.inf

    users = saturated(system.model)
    saturation = estimate_with_band(system, saturated, system.why_unchecked(at, users))
    allowed = None if limit is None else users_within_limit(system, at, changes, limit)
    return Capacity(at, network.queueing, saturation, network.most_throughput, allowed)


def users_within_limit(system: SystemPrediction, at: Conditions, changes: Sequence[Change], limit: float) -> Estimate:
    """The users whose mean response is within a limit in seconds, by a model with stations."""

    def population(model: FittedModel, changes: Sequence[Change] = changes) -> float:
        network = network_with(system, model, at, changes)
        return largest_population(network, at, limit, is_bound(model)) if network else math.inf

    why = why_limit_withheld(system, at, population(system.model, changes=[]))
    if changes:
        why = why or system.why_unchecked(at, population(system.model))
    return estimate_with_band(system, population, why)


def estimate_with_band(system: SystemPrediction, predict: Predict, not_reported: str) -> Estimate:
    """A number that a model predicts, with its band unless it is withheld."""
    value = predict(system.model)
    within = Band(0.0, math.inf) if not_reported else band(system.model, predict)
    return Estimate(value, within, not_reported)


def why_limit_withheld(system: SystemPrediction, at: Conditions, users: float) -> str:
    """Why the users that a limit allows without changes are withheld: for the reasons that their load is.

    Forms that disagree on the response R of a closed load agree on N = X·(R + Z + K) if they do on R + Z + K.
    """
    if users == math.inf:
        return system.why_unchecked(at, users)
    figure = predict_load(system, replace(at, users=max(math.floor(users), 1)))
    cycles = Band(figure.spread.low + at.own_time, figure.spread.high + at.own_time)
    if figure.is_disputed and not at.is_paced and cycles.ratio <= 1 + system.margin:
        return ""
    return figure.not_reported or system.why_unchecked(at, users)


def predict_changed_loads(system: SystemPrediction, changes: Sequence[Change]) -> list[ChangedFigure]:
    """The loads with the changes. Raises InputError for an unknown station."""
    return [predict_changed_load(system, each, changes) for each in system.figures]


def predict_changed_load(system: SystemPrediction, before: Figure, changes: Sequence[Change]) -> ChangedFigure:
    at = before.at
    list_changeable_stations(system.model, at)

    def response(model: FittedModel) -> float:
        network = network_with(system, model, at, changes)
        assert network
        return mean_response(network, at, is_bound(model))

    value = response(system.model)
    return ChangedFigure(before, estimate_with_band(system, response, before.not_reported), throughput(at, value))


def is_bound(model: FittedModel) -> bool:
    return isinstance(model.form, Asymptote)


def network_with(
    system: SystemPrediction, model: FittedModel, at: Conditions, changes: Sequence[Change]
) -> Network | None:
    """The stations of a model with the changes; None if it has none."""
    network = model.network(at)
    return (
        apply_changes(network, changes, station_names(system, at), counted_servers(system, at))
        if network and changes
        else network
    )


def station_names(system: SystemPrediction, at: Conditions) -> dict[str, str]:
    """The names that a change may use, mapped to the names of a model's stations.

    A station that was fitted to responses is called `station`, and also by the name of the metered resource that
    saturates with it.
    """
    if isinstance(system.model.form, Metered):
        return {station.name: station.name for station in system.model.form.stations.get(at.demand, ())}
    return {"station": "station"} | dict.fromkeys(agreeing_meter(system, at), "station")


def agreeing_meter(system: SystemPrediction, at: Conditions) -> list[str]:
    """The metered resource, none or one, that saturates where a fitted station does."""
    own = [each for each in system.saturations if each.at.configuration == at.configuration]
    response = next((each for each in own if each.by == "response"), None)
    return [each.by for each in own if response and each is not response and not is_apart(response, each)][:1]


def counted_servers(system: SystemPrediction, at: Conditions) -> dict[str, float]:
    """The metered number of servers of a station that was fitted to responses."""
    own = [point for point in system.points if point.at.configuration == at.configuration]
    counts = [point.servers.get(name, 1) for name in agreeing_meter(system, at) for point in own]
    return {"station": max(counts)} if counts else {}


def describe_change(system: SystemPrediction, change: Change) -> str:
    """A change in words, with the present number of servers."""
    at = system.figures[0].at
    network = system.model.network(at)
    if change.servers is None or network is None:
        return str(change)
    name = resolve_station(change.station, station_names(system, at), network)
    servers = next(station.servers for station in network.stations if station.name == name)
    return f"{change} instead of {max(servers, counted_servers(system, at).get(name, 1)):g}"


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One system with the changes; empty without changes."""

    figures: Sequence[ChangedFigure] = ()
    capacities: Sequence[Capacity] = ()


@dataclass(frozen=True)
class Answer:
    prediction: Prediction
    changes: Sequence[Change]
    limit: Limit | None
    largest_mean: float | None
    """The mean response that the limit allows, in seconds."""

    @property
    def users_are(self) -> str:
        return self.prediction.measurements.users_are

    @cached_property
    def capacities(self) -> Mapping[SystemPrediction, Sequence[Capacity]]:
        """Capacities as measured."""
        return {each: derive_capacities(each, each.loads, [], self.largest_mean) for each in self.prediction.systems}

    @cached_property
    def changed(self) -> Mapping[SystemPrediction, WhatIf]:
        """Loads and capacities with the changes."""
        return {each: self.with_changes(each) for each in self.prediction.systems}

    def with_changes(self, system: SystemPrediction) -> WhatIf:
        if not self.changes:
            return WhatIf()
        changed = derive_capacities(system, system.loads, self.changes, self.largest_mean)
        return WhatIf(predict_changed_loads(system, self.changes), changed)

    @property
    def is_reported(self) -> bool:
        """Whether no load, and no number of users that the limit allows, is withheld."""
        hosts = [*self.capacities.values(), *(each.capacities for each in self.changed.values())]
        limits = [each.allowed for capacities in hosts for each in capacities if each.allowed]
        is_complete = not (self.prediction.not_reported or self.prediction.refused)
        return is_complete and all(each.is_determined for each in limits)
