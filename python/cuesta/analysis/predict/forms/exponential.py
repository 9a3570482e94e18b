"""An exponential of the number of users: a curve without theory, which rows of a paced load may fit as well."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.predict.forms.power import USERS
from cuesta.analysis.predict.points import Conditions, Point


@dataclass(frozen=True, slots=True)
class Exponential:
    """R = R₀ + c·e^(bN)."""

    has_delay: bool = True
    has_demand: bool = True
    shape: Sequence[float] = (1.0,)
    name: str = "exponential"

    def formula(self, is_paced: bool) -> str:
        return "R = R₀ + c·e^(bN)"

    def applies(self, points: Sequence[Point]) -> bool:
        return all(point.at.is_paced for point in points)

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        return delay + demand * math.exp(min(shape[0] * (at.users / USERS - 1), 200.0))

    def network(self, at: Conditions, delay: float, demand: float) -> None:
        return None
