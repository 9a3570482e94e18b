"""A closed load at its asymptotic bound, which deterministic users and services come near."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.points import Conditions, Point


@dataclass(frozen=True, slots=True)
class Asymptote:
    """No user waits until the station is saturated."""

    has_delay: bool = True
    has_demand: bool = True
    shape: Sequence[float] = ()
    name: str = "bound"

    def formula(self, is_paced: bool) -> str:
        return "X = min(N / (Z + K + R₀ + D), 1 / D)"

    def applies(self, points: Sequence[Point]) -> bool:
        return not any(point.at.is_paced for point in points)

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        return self.network(at, delay, demand).response_bound(at.users)

    def network(self, at: Conditions, delay: float, demand: float) -> Network:
        return Network([Station("delay", delay, DELAY), Station("station", demand)], at.own_time)
