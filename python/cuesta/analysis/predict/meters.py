"""Meters that cannot be right: one that shows more than all of its resource is rejected, not clipped."""

from collections.abc import Sequence
from dataclasses import replace

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
