"""One configuration from another: what the other did at a load, moved by the difference where both were fitted.

It needs no model, only that a change moves the response by a constant, or the throughput by a ratio. Where it can be
had, it has been the best predictor: of the TMux results of 1993 it is off by 3 to 8 % at most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cuesta.analysis.predict.fitting import timed
from cuesta.analysis.predict.points import Conditions, Point


@dataclass(frozen=True, slots=True)
class Transfer:
    """A load of one configuration, predicted from another."""

    at: Conditions
    base: Point
    """The row of the other configuration."""
    shared: int
    """The number of loads at which both configurations were fitted."""
    shift: float | None
    """Seconds by which the response differs; None if the throughput is transferred."""
    ratio: float | None
    """The ratio of throughputs; None if the response is transferred."""
    value: float
    """Seconds, or transactions a second."""


def transfers(at: Conditions, points: Sequence[Point], fit: Sequence[Point]) -> Iterator[Transfer]:
    """What every other configuration with a row at this load says. Only rows of `fit` calibrate the difference."""
    own = {load(point.at): point for point in fit if point.at.configuration == at.configuration}
    others = dict.fromkeys(point.at.configuration for point in alike(at, points))
    for name in others:
        base = next((p for p in points if p.at.configuration == name and load(p.at) == load(at)), None)
        fitted = {load(point.at): point for point in fit if point.at.configuration == name}
        shared = [(fitted[each], own[each]) for each in own if each in fitted]
        if base and shared:
            yield transferred(at, base, shared)


def alike(at: Conditions, points: Sequence[Point]) -> list[Point]:
    """Rows of other configurations: of those with the same demand, if there are any."""
    others = [point for point in points if point.at.configuration != at.configuration]
    return [point for point in others if point.at.demand == at.demand] or others


def load(at: Conditions) -> tuple[int, float, float | None]:
    return at.users, at.own, at.cycle


def transferred(at: Conditions, base: Point, shared: Sequence[tuple[Point, Point]]) -> Transfer:
    """Move a row by the mean difference of the shared loads."""
    if at.is_paced:
        shift = sum(timed(new) - timed(old) for old, new in shared) / len(shared)
        return Transfer(at, base, len(shared), shift, None, timed(base) + shift)
    ratio = sum((new.rate or 0.0) / (old.rate or 1.0) for old, new in shared) / len(shared)
    return Transfer(at, base, len(shared), None, ratio, (base.rate or 0.0) * ratio)
