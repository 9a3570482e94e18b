"""Exact mean value analysis of several classes of users, for stations of one server and delays.

M. Reiser and S. S. Lavenberg, JACM 27(2), 1980. Time and memory are proportional to the product of the populations.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from cuesta.analysis.models.network import Solution, StationSolution
from cuesta.errors import InputError

MOST_STATES = 2_000_000
"""Most population vectors that are computed."""

Vector = tuple[int, ...]
"""The number of users of each class."""


@dataclass(frozen=True, slots=True)
class UserClass:
    """Users with the same demands."""

    name: str
    users: int
    demands: Sequence[float]
    """Seconds a transaction at each station."""
    think: float = 0.0
    """Seconds that a user thinks and types for each transaction."""


def solve(stations: Sequence[str], classes: Sequence[UserClass], delays: Sequence[str] = ()) -> Mapping[str, Solution]:
    """The exact means of each class, by its name. `delays` are the stations at which no user waits."""
    insist_on(stations, classes)
    waits = [0.0 if name in delays else 1.0 for name in stations]
    queues: dict[Vector, list[float]] = {}
    full = tuple(each.users for each in classes)
    for vector in product(*(range(users + 1) for users in full)):
        solved = [alone(each, number, vector, queues, waits) for number, each in enumerate(classes)]
        queues[vector] = [sum(x * r[k] for x, r in solved) for k in range(len(stations))]
    return {each.name: of_class(each, stations, *solved[number]) for number, each in enumerate(classes)}


def insist_on(stations: Sequence[str], classes: Sequence[UserClass]) -> None:
    for each in classes:
        if each.users < 0 or len(each.demands) != len(stations) or min(*each.demands, each.think, math.inf) < 0:
            raise InputError(
                f"{each.name}: expected users, a demand for each of {len(stations)} stations, none below 0"
            )
        if sum(each.demands) + each.think <= 0:
            raise InputError(f"{each.name}: expected a service demand or a think time: all of them are 0 s")
    if (states := math.prod(each.users + 1 for each in classes)) > MOST_STATES:
        raise InputError(f"expected at most {MOST_STATES:,} population vectors, got {states:,}: merge classes")


def alone(
    users: UserClass, number: int, vector: Vector, queues: Mapping[Vector, list[float]], waits: Sequence[float]
) -> tuple[float, list[float]]:
    """Throughput and residences of one class: an arrival finds the queues without its own user."""
    if not vector[number]:
        return 0.0, list(users.demands)
    found = queues[(*vector[:number], vector[number] - 1, *vector[number + 1 :])]
    residences = [d * (1 + w * q) for d, w, q in zip(users.demands, waits, found, strict=True)]
    return vector[number] / (users.think + sum(residences)), residences


def of_class(users: UserClass, stations: Sequence[str], throughput: float, residences: Sequence[float]) -> Solution:
    each = [
        StationSolution(name, residence, throughput * residence, throughput * demand)
        for name, residence, demand in zip(stations, residences, users.demands, strict=True)
    ]
    return Solution(users.users, throughput, sum(residences), each)
