"""The meters of rows: impossible ones are rejected, not clipped; the others give stations by the utilization law."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cuesta.analysis.capacity.asymptotes import BUSY_ENOUGH
from cuesta.analysis.models.network import Station
from cuesta.analysis.predict.points import Point

IMPOSSIBLE = 1.01
"""Utilization above which rounding does not explain a reading over 1."""


def reject_impossible_meters(points: Sequence[Point]) -> tuple[list[Point], list[str]]:
    """The points without meters that exceed 1 in any row of their configuration, and a sentence on each such meter."""
    worst: dict[tuple[str, str], tuple[float, str]] = {}
    for point in points:
        for name, busy in point.utilizations.items():
            key = point.at.configuration, name
            if min(busy.low, busy.value) > IMPOSSIBLE and busy.value > worst.get(key, (0.0, ""))[0]:
                worst[key] = busy.value, point.place
    notes = [
        f"{name}: {100 * busy:.0f} % busy in {place} is more than all of it: the meter is not used"
        for (_, name), (busy, place) in worst.items()
    ]
    kept = (
        {name: busy for name, busy in point.utilizations.items() if (point.at.configuration, name) not in worst}
        for point in points
    )
    return [replace(point, utilizations=meters) for point, meters in zip(points, kept, strict=True)], notes


def derive_stations(points: Sequence[Point], least: float = BUSY_ENOUGH) -> Mapping[str, Sequence[Station]]:
    """The metered resources as stations, by the name of the demand that configurations share.

    D = m·U/X over all rows together. A resource that was never busier than `least` is left out: U/X would be mostly
    its other work. A demand with a resource of m not whole, such as a quota of 1.5 CPUs, has no stations: no theory
    here gives the wait for it.
    """
    stations: dict[str, list[Station]] = {}
    for name in dict.fromkeys(point.at.demand for point in points):
        own = [point for point in points if point.at.demand == name]
        resources = [each for each in own[0].utilizations if largest_utilization(own, each) >= least]
        is_whole = all(count_servers(own, resource) % 1 == 0 for resource in resources)
        rate, stations[name] = sum(point.rate or 0.0 for point in own), []
        for resource in resources if is_whole else []:
            servers, busy = count_servers(own, resource), sum(point.utilizations[resource].value for point in own)
            stations[name].append(Station(resource, servers * busy / rate, servers))
    return stations


def largest_utilization(points: Sequence[Point], resource: str) -> float:
    """The largest utilization of a resource; 0 if a row lacks its meter."""
    readings = [point.utilizations[resource].value for point in points if resource in point.utilizations]
    return max(readings) if len(readings) == len(points) else 0.0


def count_servers(points: Sequence[Point], resource: str) -> float:
    return max(point.servers.get(resource, 1) for point in points)
