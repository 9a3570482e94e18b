"""Curves of a paced response without theory, which its rows may fit as well as a station."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cuesta.analysis.predict.points import Conditions, Point

USERS = 10.0
"""The number of users by which N is divided, so that c is the growth of the response at that number."""


@dataclass(frozen=True, slots=True)
class PacedCurve:
    """R = R₀ + c·g(N / USERS, b); c is the demand, b the only number of the shape."""

    name: str
    growth: str
    """c·g, for a formula."""
    grow: Callable[[float, float], float]
    """g"""
    shape: Sequence[float]
    has_delay: bool = True
    has_demand: bool = True

    def formula(self, is_paced: bool) -> str:
        return f"R = R₀ + {self.growth}"

    def applies(self, points: Sequence[Point]) -> bool:
        return all(point.at.is_paced for point in points)

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        return delay + demand * self.grow(at.users / USERS, shape[0])

    def network(self, at: Conditions, delay: float, demand: float) -> None:
        return None


POWER = PacedCurve("power", "c·N^b", lambda n, b: float(n ** min(max(b, -30.0), 30.0)), (2.0,))
EXPONENTIAL = PacedCurve("exponential", "c·e^(bN)", lambda n, b: math.exp(min(b * (n - 1), 200.0)), (1.0,))
