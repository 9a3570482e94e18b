"""Changes of a model's demands or servers, as `--demand` and `--servers` write them."""

import math
import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cuesta import _native
from cuesta.analysis.models import paced_station
from cuesta.analysis.models.network import Network, Station
from cuesta.analysis.predict.fitting import FittedModel
from cuesta.analysis.predict.points import Conditions
from cuesta.errors import InputError, UsageError

MOST_USERS = 10_000_000
"""The largest number of users that bisection looks for."""
CHANGE = re.compile(r"\s*([^=]+?)\s*=\s*(?:([+-]\d+(?:\.\d+)?)\s*%|(\S.*))\s*")


@dataclass(frozen=True, slots=True)
class Change:
    """Another demand, or another number of servers, of one station."""

    station: str
    """As it was named; empty means the limiting one."""
    factor: float | None = None
    """Multiplies its demand."""
    demand: float | None = None
    """Its demand in seconds a transaction."""
    servers: int | None = None

    def __str__(self) -> str:
        name = self.station or "the limiting station"
        if self.servers is not None:
            return f"{name}: {self.servers} {'server' if self.servers == 1 else 'servers'}"
        if self.factor is not None:
            return f"{name}: demand {100 * (self.factor - 1):+g} %"
        return f"{name}: demand {1e3 * (self.demand or 0.0):g} ms"


def read_demand(text: str) -> Change:
    """Read `cpu=-20%` or `cpu=12ms`. Raises UsageError with what was expected."""
    match = CHANGE.fullmatch(text)
    if not match:
        raise UsageError(
            f"--demand: expected STATION=CHANGE, got {text!r}", "as --demand cpu=-20% or --demand cpu=12ms"
        )
    if match[2]:
        factor = 1 + float(match[2]) / 100
        if factor <= 0:
            raise InputError(f"--demand {text}: leaves a demand of {100 * factor:g} %: expected more than 0")
        return Change(match[1], factor=factor)
    try:
        seconds = _native.duration(match[3].removeprefix("-")) / 1e9
    except ValueError:
        raise UsageError(
            f"--demand {text}: expected a percentage with its sign, or a duration, got {match[3]!r}",
            "as --demand cpu=-20% or --demand cpu=12ms",
        ) from None
    if seconds <= 0 or match[3].startswith("-"):
        raise InputError(f"--demand {text}: expected a demand of more than 0 s")
    return Change(match[1], demand=seconds)


def read_servers(text: str) -> Change:
    """Read `2` or `cpu=2`. Raises UsageError with what was expected."""
    station, _, count = text.rpartition("=")
    if not (count.strip().isdigit() and 1 <= int(count) <= 100_000):
        raise UsageError(f"--servers: expected a number from 1 to 100,000, got {count!r}", "as --servers 2")
    return Change(station.strip(), servers=int(count))


def list_changeable_stations(model: FittedModel, at: Conditions) -> Sequence[Station]:
    """The queueing stations. Raises InputError for a model that has none."""
    network = model.network(at)
    stations = network.queueing if network else []
    if not stations:
        raise InputError(
            f"the model that fits ({model.form.name}) has no station: nothing of it can be changed",
            "--demand and --servers need one station, or metered stations",
        )
    return stations


def apply_changes(
    network: Network, changes: Sequence[Change], names: Mapping[str, str], counted: Mapping[str, float]
) -> Network:
    """The network with changes. `names` maps the names that a change may have to those in the network.

    `counted` has the metered servers of stations that were fitted as fewer: there more servers divide the demand.
    """
    stations = {station.name: station for station in network.stations}
    for change in changes:
        name = resolve_station(change.station, names, network)
        station = stations[name]
        metered_per_fitted = max(counted.get(name, 1) / station.servers, 1.0)
        demand = change.demand / metered_per_fitted if change.demand else station.demand * (change.factor or 1.0)
        servers = change.servers or station.servers
        if change.servers and metered_per_fitted > 1:
            demand, servers = demand * metered_per_fitted * station.servers / change.servers, station.servers
        stations[name] = replace(station, demand=demand, servers=servers, is_fixed=station.is_fixed and servers == 1)
    return Network(list(stations.values()), network.think)


def resolve_station(word: str, names: Mapping[str, str], network: Network) -> str:
    """The station with that name, or the only one with that part in its name. Raises InputError without one."""
    if not word and network.bottleneck:
        return network.bottleneck.name
    if word in names:
        return names[word]
    matches = {station for name, station in names.items() if word.lower() in name.lower()}
    if len(matches) != 1:
        raise InputError(f"no such station: {word}" if not matches else f"several stations: {word}",
                         f"the model has {', '.join(names)}")  # fmt: skip
    return matches.pop()


def mean_response(network: Network, at: Conditions, is_bound: bool = False) -> float:
    """Mean response in seconds; with `is_bound` the asymptotic bound of it."""
    if is_bound:
        return network.response_bound(at.users)
    return paced_station.network_response(network, at.users, at.cycle)


def largest_population(network: Network, at: Conditions, limit: float, is_bound: bool) -> float:
    """N at which the mean response reaches a limit, interpolated; 0 if one user exceeds it, infinite if none does."""

    def response(users: int) -> float:
        return mean_response(network, replace(at, users=users), is_bound)

    if response(1) > limit:
        return 0.0
    beyond = max(limit + network.think, at.cycle or 0.0) * network.most_throughput
    high = 2 + int(min(beyond, MOST_USERS))
    if response(high) <= limit:
        return math.inf
    low = bisect(range(2, high), limit, key=response) + 1
    below, above = response(low), response(low + 1)
    return low + (limit - below) / (above - below) if above > below else float(low)
