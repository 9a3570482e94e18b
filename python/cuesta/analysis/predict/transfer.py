"""One configuration from another: the other's row at a load, shifted by the mean difference at shared loads.

It needs no model, only that a change shifts the response by a constant, or scales the throughput. Where it applies it
has been the best predictor: its error at the TMux results of 1993 is at most 3 to 8 %.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cuesta.analysis.predict.fitting import measured_response
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


def list_transfers(at: Conditions, points: Sequence[Point], fit: Sequence[Point]) -> Iterator[Transfer]:
    """A transfer from each other configuration with a row at this load, of those with the same demand if there are any.

    Only rows of `fit` calibrate the difference.
    """
    own = {load_key(point.at): point for point in fit if point.at.configuration == at.configuration}
    others = [point for point in points if point.at.configuration != at.configuration]
    related = [point for point in others if point.at.demand == at.demand] or others
    for name in dict.fromkeys(point.at.configuration for point in related):
        base = next((p for p in points if p.at.configuration == name and load_key(p.at) == load_key(at)), None)
        fitted = {load_key(point.at): point for point in fit if point.at.configuration == name}
        shared = [(fitted[each], own[each]) for each in own if each in fitted]
        if base and shared:
            yield transfer_row(at, base, shared)


def load_key(at: Conditions) -> tuple[int, float, float | None]:
    return at.users, at.own_time, at.cycle


def transfer_row(at: Conditions, base: Point, shared: Sequence[tuple[Point, Point]]) -> Transfer:
    if at.is_paced:
        shift = sum(measured_response(new) - measured_response(old) for old, new in shared) / len(shared)
        return Transfer(at, base, len(shared), shift, None, measured_response(base) + shift)
    ratio = sum((new.rate or 0.0) / (old.rate or 1.0) for old, new in shared) / len(shared)
    return Transfer(at, base, len(shared), None, ratio, (base.rate or 0.0) * ratio)
