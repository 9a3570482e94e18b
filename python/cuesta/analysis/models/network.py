"""A closed network of stations, and its solution.

A station is described by its service demand, the service time of all visits of a transaction: in a product-form network
(Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975) neither the number of visits nor their order changes a mean.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from cuesta.errors import InputError

DELAY = math.inf
"""The number of servers of a station where no user waits for another."""


@dataclass(frozen=True, slots=True)
class Station:
    """A resource with its service demand in seconds a transaction."""

    name: str
    demand: float
    servers: float = 1
    """Parallel servers of equal speed; DELAY is as many as there are users."""
    rates: tuple[float, ...] = ()
    """Load-dependent rates instead of `servers`: with 1, 2, … transactions present, as multiples of 1 / demand; the
    last one holds for any more."""
    is_fixed: bool = False
    """Whether the services of its one server are deterministic; else they are exponential."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.demand) and self.demand >= 0):
            raise InputError(f"{self.name}: expected a service demand of 0 s or more, got {self.demand:g} s")
        if not (self.servers == DELAY or (self.servers >= 1 and self.servers == int(self.servers))):
            raise InputError(f"{self.name}: expected a whole number of servers from 1, got {self.servers:g}")
        if not all(math.isfinite(rate) and rate > 0 for rate in self.rates):
            raise InputError(f"{self.name}: expected rates over 0, got {', '.join(map(str, self.rates))}")
        if self.is_fixed and not self.is_single:
            raise InputError(f"{self.name}: expected one server of fixed service: no theory here has more of them")

    @property
    def is_delay(self) -> bool:
        """Whether no user waits there."""
        return self.servers == DELAY and not self.rates

    @property
    def is_single(self) -> bool:
        return self.servers == 1 and not self.rates

    @property
    def most(self) -> float:
        """Its largest rate as a multiple of 1 / demand."""
        return max(self.rates) if self.rates else self.servers

    def rate(self, present: int) -> float:
        """Its rate with that many transactions present, as a multiple of 1 / demand."""
        return self.rates[min(present, len(self.rates)) - 1] if self.rates else min(present, self.servers)


@dataclass(frozen=True)
class Network:
    stations: Sequence[Station]
    think: float = 0.0
    """Z + K: seconds that a user thinks and types for each transaction."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.think) and self.think >= 0):
            raise InputError(f"expected a think time of 0 s or more, got {self.think:g} s")
        if self.least_response + self.think <= 0:
            raise InputError("expected a station with a service demand, or a think time: all of them are 0 s")

    @cached_property
    def queueing(self) -> list[Station]:
        """The stations at which transactions may wait."""
        return [station for station in self.stations if not station.is_delay]

    @cached_property
    def least_response(self) -> float:
        """ΣD: the response time of a single user, in seconds."""
        return sum(station.demand for station in self.stations)

    @cached_property
    def delay(self) -> float:
        """Seconds of a cycle that do not depend on other users: thinking, typing and the delays."""
        return self.think + sum(station.demand for station in self.stations if station.is_delay)

    @cached_property
    def bottleneck(self) -> Station | None:
        """The station that saturates first; None if there are only delays."""
        return max(self.queueing, key=lambda station: station.demand / station.most, default=None)

    @property
    def slowest(self) -> float:
        """Dmax: demand / servers of the bottleneck, in seconds; 0 if there is none."""
        return self.bottleneck.demand / self.bottleneck.most if self.bottleneck else 0.0

    @property
    def most_throughput(self) -> float:
        """1 / Dmax: no number of users gets more transactions a second."""
        return 1 / self.slowest if self.slowest else math.inf

    @property
    def saturation(self) -> float:
        """N* = (ΣD + Z + K) / Dmax: with more users some must wait; infinite without a bottleneck."""
        return (self.least_response + self.think) * self.most_throughput


@dataclass(frozen=True, slots=True)
class StationSolution:
    name: str
    residence: float
    """Seconds of a transaction at the station, all visits and waiting."""
    queue: float
    """Mean number of transactions there, waiting or in service."""
    utilization: float
    """Of its servers, 0 to 1; of a delay, the mean number of transactions there."""


@dataclass(frozen=True, slots=True)
class Solution:
    users: float
    throughput: float
    """Transactions a second."""
    response: float
    """Seconds at all stations."""
    stations: Sequence[StationSolution]


def solution(network: Network, users: float, throughput: float, queues: Sequence[float]) -> Solution:
    """Complete throughput and mean queues by Little's law and the utilization law."""
    stations = [
        StationSolution(
            station.name,
            queue / throughput if throughput else station.demand,
            queue,
            throughput * station.demand / (1 if station.is_delay else station.most),
        )
        for station, queue in zip(network.stations, queues, strict=True)
    ]
    return Solution(users, throughput, sum(each.residence for each in stations), stations)


def insist_on_users(users: int) -> None:
    if users < 1:
        raise InputError(f"expected at least 1 user, got {users}")
