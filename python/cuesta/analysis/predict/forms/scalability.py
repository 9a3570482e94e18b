"""Gunther's universal scalability law, for six or more populations at one think time.

N. J. Gunther, Guerrilla Capacity Planning, 2007. It describes a measured curve, also a retrograde one, and extrapolates
badly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.predict.points import Conditions, Point

FEWEST_POPULATIONS = 6
"""Fewest different numbers of users for three parameters."""
ONE_THINK_TIME = 0.05
"""Largest relative difference of think times that are called one."""


@dataclass(frozen=True, slots=True)
class Scalability:
    """X = γN / (1 + σ(N−1) + κN(N−1)); 1/γ is its demand."""

    has_delay: bool = False
    has_demand: bool = True
    shape: Sequence[float] = (-4.0, -9.0)
    """The logarithms of σ and κ."""
    name: str = "scalability law"

    def formula(self, is_paced: bool) -> str:
        return "X = γN / (1 + σ(N−1) + κN(N−1))"

    def applies(self, points: Sequence[Point]) -> bool:
        thinks = [point.at.own_time for point in points]
        return (
            not any(point.at.is_paced for point in points)
            and len({point.at.users for point in points}) >= FEWEST_POPULATIONS
            and max(thinks) - min(thinks) <= ONE_THINK_TIME * max(thinks)
        )

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        contention, coherency = (math.exp(min(each, 0.0)) for each in shape)
        return at.users / scaled_throughput(at.users, contention, coherency, 1 / demand) - at.own_time

    def network(self, at: Conditions, delay: float, demand: float) -> None:
        return None


def scaled_throughput(users: float, contention: float, coherency: float, efficiency: float) -> float:
    """Transactions a second.

    `contention`, σ: the share of the work that is serial; `coherency`, κ: the cost of each pair of users; `efficiency`,
    γ: transactions a second of one user.
    """
    return efficiency * users / (1 + contention * (users - 1) + coherency * users * (users - 1))
