"""A closed network of stations, and its asymptotic bounds.

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
    is_fixed: bool = False
    """Whether the services of its one server are deterministic; else they are exponential."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.demand) and self.demand >= 0):
            raise InputError(f"{self.name}: expected a service demand of 0 s or more, got {self.demand:g} s")
        if not (self.is_delay or (self.servers >= 1 and self.servers == int(self.servers))):
            raise InputError(f"{self.name}: expected a whole number of servers from 1, got {self.servers:g}")
        if self.is_fixed and self.servers != 1:
            raise InputError(f"{self.name}: expected one server of fixed service: no theory here has more of them")

    @property
    def is_delay(self) -> bool:
        """Whether no user waits there."""
        return self.servers == DELAY


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
        return max(self.queueing, key=lambda station: station.demand / station.servers, default=None)

    @property
    def slowest(self) -> float:
        """Dmax: demand / servers of the bottleneck, in seconds; 0 if there is none."""
        return self.bottleneck.demand / self.bottleneck.servers if self.bottleneck else 0.0

    @property
    def most_throughput(self) -> float:
        """1 / Dmax: no number of users gets more transactions a second."""
        return 1 / self.slowest if self.slowest else math.inf

    @property
    def saturation(self) -> float:
        """N* = (ΣD + Z + K) / Dmax: with more users some must wait; infinite without a bottleneck."""
        return (self.least_response + self.think) * self.most_throughput

    def throughput_bound(self, users: int) -> float:
        """X ≤ min(1/Dmax, N / (ΣD + Z + K)) a second: no user waits, or the bottleneck is saturated.

        P. J. Denning and J. P. Buzen, The operational analysis of queueing network models, Computing Surveys 10(3),
        1978. It needs no distribution.
        """
        insist_on_users(users)
        return min(self.most_throughput, users / (self.least_response + self.think))

    def response_bound(self, users: int) -> float:
        """R = N/X − Z − K of the largest throughput, by the response-time law, in seconds."""
        return users / self.throughput_bound(users) - self.think


def insist_on_users(users: int) -> None:
    if users < 1:
        raise InputError(f"expected at least 1 user, got {users}")
