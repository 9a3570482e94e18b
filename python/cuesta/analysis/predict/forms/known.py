"""A known delay without a station: no user waits for another, and nothing is fitted."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.points import Conditions, Point


@dataclass(frozen=True, slots=True)
class KnownDelay:
    has_delay: bool = False
    has_demand: bool = False
    shape: Sequence[float] = ()
    name: str = "script alone"

    def formula(self, is_paced: bool) -> str:
        return "X = N / (Z + K + R₀), R₀ known"

    def applies(self, points: Sequence[Point]) -> bool:
        return all(point.at.known_delay is not None for point in points)

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        return delay

    def network(self, at: Conditions, delay: float, demand: float) -> Network:
        return Network([Station("delay", delay, DELAY)], at.own_time)
