"""A power of the number of users: a curve without theory, which rows of a paced load may fit as well."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.predict.points import Conditions, Point

USERS = 10.0
"""The number of users at which the curve's demand is the part of the response that grows."""


@dataclass(frozen=True, slots=True)
class Power:
    """R = R₀ + c·N^b."""

    has_delay: bool = True
    has_demand: bool = True
    shape: Sequence[float] = (2.0,)
    name: str = "power"

    def formula(self, is_paced: bool) -> str:
        return "R = R₀ + c·N^b"

    def applies(self, points: Sequence[Point]) -> bool:
        return all(point.at.is_paced for point in points)

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        return float(delay + demand * (at.users / USERS) ** min(max(shape[0], -30.0), 30.0))

    def network(self, at: Conditions, delay: float, demand: float) -> None:
        return None
