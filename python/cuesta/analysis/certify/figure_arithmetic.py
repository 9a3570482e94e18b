"""Arithmetic on figures that rest on samples, with their 95 % intervals.

These intervals cover the sampling error within one run. How much runs differ is seen only over several runs.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from cuesta import _native
from cuesta.ledger.record import Absence, RecordFigure

DEVIATIONS = 1.96
"""Standard errors on either side of a 95 % interval."""


def figure(seconds: float, share: float, samples: float, calibration: float = 0.0) -> RecordFigure:
    """CPU time in `share` of `samples`; `calibration` is one standard error, in seconds."""
    whole = seconds / share if share else 0.0
    low, high = _native.share_interval(share, samples)
    error = whole * math.sqrt(share * (1 - share) / samples) if samples else 0.0
    return RecordFigure(
        value=seconds,
        standard_error=math.hypot(error, calibration),
        low=max(seconds - math.hypot((share - low) * whole, DEVIATIONS * calibration), 0.0),
        high=seconds + math.hypot((high - share) * whole, DEVIATIONS * calibration),
    )


def unmet(whole: float, samples: float) -> RecordFigure:
    """CPU time of which there is no sample: 0, with the upper limit for so many samples."""
    high = whole * _native.share_interval(0.0, samples)[1]
    return RecordFigure(value=0.0, standard_error=high / DEVIATIONS, low=0.0, high=high)


def total(figures: Iterable[RecordFigure], divisor: float = 1.0) -> RecordFigure:
    """Add up figures that have values and are independent; `divisor` is their number for a mean."""
    known = list(figures)
    value = sum(each.value or 0.0 for each in known) / divisor
    if all(each.high is None for each in known):
        return RecordFigure(value=value)
    return RecordFigure(value=value, **_around(value, known, divisor))


def less(one: RecordFigure, other: RecordFigure) -> RecordFigure:
    """The difference of two figures that have values."""
    value = (one.value or 0.0) - (other.value or 0.0)
    if one.high is None and other.high is None:
        return RecordFigure(value=value)
    mirrored = other.model_copy(update={"low": other.high, "high": other.low})
    return RecordFigure(value=value, **_around(value, [one, mirrored], 1.0))


def scaled(one: RecordFigure, by: float) -> RecordFigure:
    """A figure with its error and interval multiplied by a number; the figure has a value."""
    limits = {name: getattr(one, name) for name in ("value", "standard_error", "low", "high")}
    return RecordFigure(**{name: None if each is None else each * by for name, each in limits.items()})


def mean(figures: Sequence[RecordFigure]) -> RecordFigure:
    """The mean over runs; if a run lacks the figure, the reason."""
    if not figures:
        return RecordFigure(why="no run counts", absence=Absence.NO_RUN)
    missing = next((figure for figure in figures if figure.value is None), None)
    return missing or total(figures, len(figures))


def plus(one: RecordFigure, other: RecordFigure) -> RecordFigure:
    if one.value is None or other.value is None:
        return one if one.value is None else other
    return total([one, other])


def ratio(one: RecordFigure, other: RecordFigure) -> RecordFigure:
    if one.value is None or other.value is None:
        return one if one.value is None else other
    if not other.value:
        return RecordFigure(why="there were none", absence=Absence.NO_EVENT)
    return scaled(one, 1 / other.value)


def _around(value: float, figures: Iterable[RecordFigure], divisor: float) -> dict[str, Any]:
    """Error and interval of a sum: distances from the value add up in quadrature."""
    known = [each for each in figures if each.high is not None]
    down = math.hypot(*((each.value or 0.0) - (each.low or 0.0) for each in known)) / divisor
    up = math.hypot(*((each.high or 0.0) - (each.value or 0.0) for each in known)) / divisor
    error = math.hypot(*(each.standard_error or 0.0 for each in known)) / divisor
    return {"standard_error": error, "low": value - down, "high": value + up}
