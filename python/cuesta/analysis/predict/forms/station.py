"""One station with a demand, and a delay: exact mean values of a closed load, or M/M/m of a paced one.

With fixed service it is M/D/1, closed or paced.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.models import closed, paced_station
from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.points import Conditions, Point


@dataclass(frozen=True, slots=True)
class OneStation:
    """Users wait for one station."""

    servers: int = 1
    is_fixed: bool = False
    """Whether its services, of one server, are known to take the same time each; else they are exponential."""
    has_delay: bool = True
    has_demand: bool = True
    shape: Sequence[float] = ()

    @property
    def name(self) -> str:
        if self.is_fixed:
            return "one station, fixed service"
        return "one station" if self.servers == 1 else f"one station, {self.servers} servers"

    def formula(self, is_paced: bool) -> str:
        if self.is_fixed:
            return "R = R₀ + D + λD² / 2(1 − λD)" if is_paced else "X = N / (Z + K + R₀ + D + waiting), M/D/1//N"
        if is_paced:
            return "R = R₀ + D / (1 − λD)" if self.servers == 1 else f"R = R₀ + M/M/{self.servers}"
        return "X = N / (Z + K + R₀ + D + waiting), exact mean values"

    def applies(self, points: Sequence[Point]) -> bool:
        return True

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        if at.cycle is not None:
            return paced_station.response(at.users, at.cycle, self.station(demand), delay)
        return delay + closed.residence(at.users, self.station(demand), at.own_time + delay)

    def network(self, at: Conditions, delay: float, demand: float) -> Network:
        return Network([Station("delay", delay, DELAY), self.station(demand)], at.own_time)

    def station(self, demand: float) -> Station:
        return Station("station", demand, self.servers, is_fixed=self.is_fixed)
