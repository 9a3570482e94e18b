"""Stations whose demands are those of the meters, by the utilization law D = U/X; only a delay is fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cuesta.analysis.models import paced_station
from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.points import Conditions, Point


@dataclass(frozen=True, slots=True)
class Metered:
    """The metered resources, by the name of the demand that configurations share."""

    stations: Mapping[str, Sequence[Station]]
    has_delay: bool = True
    has_demand: bool = False
    shape: Sequence[float] = ()
    name: str = "metered stations"

    def formula(self, is_paced: bool) -> str:
        fixed = ", fixed service" if any(each.is_fixed for own in self.stations.values() for each in own) else ""
        if is_paced:
            return f"R = R₀ + Σ D {'+ waiting' if fixed else '/ (1 − U)'}, D = U/X of each meter{fixed}"
        return f"X = N / (Z + K + R₀ + Σ D + waiting), D = U/X of each meter, exact mean values{fixed}"

    def scaled(self, factor: float) -> "Metered":
        """The form with all demands times a factor."""
        stations = {
            name: [replace(station, demand=station.demand * factor) for station in own]
            for name, own in self.stations.items()
        }
        return replace(self, stations=stations)

    def applies(self, points: Sequence[Point]) -> bool:
        return all(self.stations.get(point.at.demand) for point in points)

    def response(self, at: Conditions, delay: float, demand: float, shape: Sequence[float]) -> float:
        return paced_station.network_response(self.network(at, delay, demand), at.users, at.cycle)

    def network(self, at: Conditions, delay: float, demand: float) -> Network:
        return Network([Station("delay", delay, DELAY), *self.stations[at.demand]], at.own_time)
