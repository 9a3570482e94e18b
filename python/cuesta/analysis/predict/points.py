"""A measured row, from a run folder or a typed table, and the conditions of a load, measured or asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from cuesta.analysis.quantity import Quantity

KEYS = "keys"
"""The unit of rows whose responses are echoes of keys."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit in which a reader writes throughput, and how many of it are one transaction."""

    name: str = "transactions"
    per_transaction: float = 1.0


@dataclass(frozen=True, slots=True)
class Conditions:
    configuration: str
    users: int
    think: float = 0.0
    """Z: seconds that a user of a closed load thinks for each transaction."""
    keying: float = 0.0
    """K: seconds that such a user types for each transaction."""
    cycle: float | None = None
    """Seconds between the transactions of a paced user; None if the load is closed."""
    known_delay: float | None = None
    """Seconds of a response that are known and do not grow with the load, such as the characters' time on the line."""
    demand: str = ""
    """The name of the limiting station's demand: configurations with one name share it."""
    delays: tuple[str, ...] = ()
    """The names of the constant parts of the response, which add up: configurations share those of one name."""
    unit: Unit = Unit()

    @property
    def own_time(self) -> float:
        """Z + K in seconds."""
        return self.think + self.keying

    @property
    def is_paced(self) -> bool:
        return self.cycle is not None


MOST_USERS = 1e9
"""The largest number of users of a load, asked or of a saturation point."""
ONE_PACE = 0.1
"""Relative tolerance of Z + K within one pace: measured means of random times differ."""


def list_paces(loads: Iterable[Conditions]) -> list[Conditions]:
    """The first load of each configuration and pace."""
    firsts: list[Conditions] = []
    for at in loads:
        alike = (first for first in firsts if (first.configuration, first.cycle) == (at.configuration, at.cycle))
        if not any(abs(first.own_time - at.own_time) <= ONE_PACE * max(first.own_time, at.own_time) for first in alike):
            firsts.append(at)
    return firsts


@dataclass(frozen=True, slots=True)
class Point:
    """One measured row."""

    place: str
    """Where it was measured: a row of a table, or a step of a run."""
    at: Conditions
    throughput: Quantity | None = None
    """Transactions a second."""
    response: Quantity | None = None
    """Mean seconds; None if it was not timed."""
    utilizations: Mapping[str, Quantity] = field(default_factory=dict)
    """U of each metered resource; 1 is all of its servers."""
    servers: Mapping[str, float] = field(default_factory=dict)
    """The number of servers of a metered resource; 1 where it is missing."""
    is_fixed: bool = False
    """Whether a plan or a table says that services are fixed."""
    recorded: tuple[Path, int] | None = None
    """The run folder and the number of its step, from 0; None for a row of a table."""
    percentiles: Mapping[str, float] = field(default_factory=dict)
    """Of the response: `p50`, `p95`, `p99`, in seconds; empty for a row of a table."""

    @property
    def by_law(self) -> Quantity | None:
        """R = N/X − Z − K, with bounds; None for paced loads, or without a throughput."""
        if self.at.is_paced or self.throughput is None:
            return None
        return Quantity.exactly(self.at.users) / self.throughput - Quantity.exactly(self.at.own_time)

    @property
    def rate(self) -> float | None:
        """X, transactions a second: counted, else by the pace, else by the response-time law."""
        if self.throughput is not None:
            return self.throughput.value
        if self.at.cycle:
            return self.at.users / self.at.cycle
        return self.at.users / (self.response.value + self.at.own_time) if self.response else None


def pool_rows(points: Sequence[Point]) -> Point:
    """Means of several rows of one load."""
    names = [name for name in points[0].percentiles if all(name in each.percentiles for each in points)]
    return replace(
        points[0],
        place=", ".join(each.place for each in points),
        throughput=mean_quantity([each.throughput for each in points if each.throughput]),
        response=mean_quantity([each.response for each in points if each.response]),
        percentiles={name: fmean(each.percentiles[name] for each in points) for name in names},
    )


def mean_quantity(values: Sequence[Quantity]) -> Quantity | None:
    """The mean of numbers and of their bounds; None of none."""
    if not values:
        return None
    lows, means, highs = zip(*((each.low, each.value, each.high) for each in values), strict=True)
    return Quantity(fmean(lows), fmean(means), fmean(highs))


@dataclass(frozen=True, slots=True)
class Measurements:
    title: str
    points: Sequence[Point]
    users_are: str = "users"
    """The table's word for users, such as ports."""
    notes: Sequence[str] = ()
    """Rows that were left out, and why, a sentence each."""

    @property
    def configurations(self) -> list[str]:
        return list(dict.fromkeys(point.at.configuration for point in self.points))
