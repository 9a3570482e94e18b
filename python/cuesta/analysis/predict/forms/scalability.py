"""Gunther's universal scalability law, for six or more populations at one think time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.models.scalability_law import FEWEST_POPULATIONS, ScalabilityLaw
from cuesta.analysis.predict.points import Conditions, Point

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
        thinks = [point.at.own for point in points]
        return (
            not any(point.at.is_paced for point in points)
            and len({point.at.users for point in points}) >= FEWEST_POPULATIONS
            and max(thinks) - min(thinks) <= ONE_THINK_TIME * max(thinks)
        )

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        contention, coherency = (math.exp(min(each, 0.0)) for each in shape)
        return at.users / ScalabilityLaw(contention, coherency, 1 / demand).throughput(at.users) - at.own

    def network(self, at: Conditions, delay: float, demand: float) -> None:
        return None
