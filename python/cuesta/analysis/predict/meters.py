"""Meters that cannot be right: one that shows more than all of its resource is rejected, not clipped."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cuesta.analysis.capacity.asymptotes import BUSY_ENOUGH
from cuesta.analysis.models.network import Station
from cuesta.analysis.predict.points import Point

ALL = 1.01
"""The largest utilization that rounding explains."""


def usable_meters(points: Sequence[Point]) -> tuple[list[Point], list[str]]:
    """The points without the meters that exceed 1 in any row of their configuration, and a sentence on each meter."""
    worst: dict[tuple[str, str], Point] = {}
    for point in points:
        for name, busy in point.utilizations.items():
            key = (point.at.configuration, name)
            if min(busy.low, busy.value) > ALL and (key not in worst or busy.value > shown(worst[key], name)):
                worst[key] = point
    notes = [
        f"{name}: {100 * shown(point, name):.0f} % busy in {point.place} is more than all of it: the meter is not used"
        for (_, name), point in worst.items()
    ]
    return [without(point, worst) for point in points], notes


def shown(point: Point, name: str) -> float:
    return point.utilizations[name].value


def without(point: Point, rejected: dict[tuple[str, str], Point]) -> Point:
    kept = {name: busy for name, busy in point.utilizations.items() if (point.at.configuration, name) not in rejected}
    return replace(point, utilizations=kept)


def metered_stations(points: Sequence[Point], least: float = BUSY_ENOUGH) -> Mapping[str, Sequence[Station]]:
    """The stations that the meters of rows stand for, by the name of the demand that configurations share.

    A demand is U·m/X over all rows together, for which a resource of m servers was metered. One that was never busier
    than `least` is left out: most of what it does is other work. None are given beside a resource that is
    no whole number of servers, such as a quota of 1.5 CPUs: no theory here says how long users wait for that.
    """
    found: dict[str, list[Station]] = {}
    for name in dict.fromkeys(point.at.demand for point in points):
        own = [point for point in points if point.at.demand == name]
        resources = [each for each in own[0].utilizations if busiest(own, each) >= least]
        is_whole = all(servers_of(own, resource) % 1 == 0 for resource in resources)
        found[name] = [station_of(own, resource) for resource in resources] if is_whole else []
    return found


def busiest(points: Sequence[Point], resource: str) -> float:
    """The largest utilization of a resource; 0 if a row lacks its meter."""
    found = [point.utilizations[resource].value for point in points if resource in point.utilizations]
    return max(found) if len(found) == len(points) else 0.0


def station_of(points: Sequence[Point], resource: str) -> Station:
    """A metered resource as a station."""
    servers = servers_of(points, resource)
    busy = sum(point.utilizations[resource].value for point in points)
    return Station(resource, servers * busy / sum(point.rate or 0.0 for point in points), servers)


def servers_of(points: Sequence[Point], resource: str) -> float:
    """How many servers a metered resource has."""
    return max(point.servers.get(resource, 1) for point in points)
