"""Other demands or other servers than those of the fitted model, as `--demand` and `--servers` write them."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cuesta import _native
from cuesta.analysis.models import asymptotic_bounds, closed, paced_station
from cuesta.analysis.models.network import Network, Station
from cuesta.analysis.predict.fitting import FittedModel
from cuesta.analysis.predict.points import Conditions
from cuesta.errors import InputError, UsageError

MOST_USERS = 10_000_000
"""The largest number of users that is looked for."""
CHANGE = re.compile(r"\s*([^=]+?)\s*=\s*(?:([+-]\d+(?:\.\d+)?)\s*%|(\S.*))\s*")


@dataclass(frozen=True, slots=True)
class Change:
    """Another demand, or another number of servers, of one station."""

    station: str
    """As it was named; empty means the limiting one."""
    factor: float | None = None
    """What its demand is multiplied by."""
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


def stations_of(model: FittedModel, at: Conditions) -> Sequence[Station]:
    """The stations that may be changed. Raises InputError for a model that stands for none."""
    network = model.network(at)
    found = network.queueing if network else []
    if not found:
        raise InputError(
            f"the model that fits ({model.form.name}) has no station: nothing of it can be changed",
            "--demand and --servers need one station, or metered stations",
        )
    return found


def apply(
    network: Network, changes: Sequence[Change], names: Mapping[str, str], counted: Mapping[str, float]
) -> Network:
    """Apply changes. `names` gives the station's name in the network for each name that a change may have.

    `counted` are the servers of stations whose rows look like fewer: there each server counts as a part of one.
    """
    stations = {station.name: station for station in network.stations}
    for change in changes:
        name = resolved(change.station, names, network)
        station = stations[name]
        alike = max(counted.get(name, 1) / station.servers, 1.0)
        demand = change.demand / alike if change.demand else station.demand * (change.factor or 1.0)
        servers = change.servers or station.servers
        if change.servers and alike > 1:
            demand, servers = demand * alike * station.servers / change.servers, station.servers
        stations[name] = replace(station, demand=demand, servers=servers, is_fixed=station.is_fixed and servers == 1)
    return Network(list(stations.values()), network.think)


def resolved(word: str, names: Mapping[str, str], network: Network) -> str:
    """The station that a word means: its name, or a part of it. Raises InputError if none or several are meant."""
    if not word and network.bottleneck:
        return network.bottleneck.name
    if word in names:
        return names[word]
    found = {station for name, station in names.items() if word.lower() in name.lower()}
    if len(found) != 1:
        raise InputError(f"no such station: {word}" if not found else f"several stations: {word}",
                         f"the model has {', '.join(names)}")  # fmt: skip
    return found.pop()


def response_of(network: Network, at: Conditions, is_bound: bool = False) -> float:
    """Mean seconds of a load at a network, closed or paced; with `is_bound` the least that the network allows."""
    if is_bound:
        return asymptotic_bounds.bounds(network, at.users).least_response
    if at.cycle is None:
        return closed.response(network, at.users)
    return paced_station.network_response(network, at.users, at.cycle)


def most_users(network: Network, at: Conditions, limit: float, is_bound: bool) -> float:
    """The number of users at which the mean response reaches a limit, between whole numbers too; infinite if none does.

    0 if one user misses it.
    """

    def response(users: int) -> float:
        return response_of(network, replace(at, users=users), is_bound)

    if response(1) > limit:
        return 0.0
    beyond = max(limit + network.think, at.cycle or 0.0) * network.most_throughput
    low, high = 1, 2 + int(min(beyond, MOST_USERS))
    if response(high) <= limit:
        return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if response(middle) <= limit else (low, middle)
    below, above = response(low), response(high)
    return low + (limit - below) / (above - below) if above > below else float(low)
