"""Figures that rest on samples: what is left open about them, and what becomes of it when they are put together.

An interval is of 95 % and says what so many samples cannot tell of the very time that they were taken in. How another
run would differ it does not say: that is seen over runs.
"""

import math
from collections.abc import Iterable
from typing import Any

from cuesta import _native
from cuesta.ledger.record import Figure

DEVIATIONS = 1.96
"""Standard errors on either side of a 95 % interval."""


def figure(seconds: float, share: float, samples: float, calibration: float = 0.0) -> Figure:
    """Give CPU time that is a share of what so many samples met; `calibration` is one deviation of its constants."""
    whole = seconds / share if share else 0.0
    low, high = _native.share_interval(share, samples)
    error = whole * math.sqrt(share * (1 - share) / samples) if samples else 0.0
    return Figure(
        value=seconds,
        standard_error=math.hypot(error, calibration),
        low=max(seconds - math.hypot((share - low) * whole, DEVIATIONS * calibration), 0.0),
        high=seconds + math.hypot((high - share) * whole, DEVIATIONS * calibration),
    )


def unmet(whole: float, samples: float) -> Figure:
    """Give CPU time that none of so many samples met: nothing was seen, and it is at most so much of the whole."""
    high = whole * _native.share_interval(0.0, samples)[1]
    return Figure(value=0.0, standard_error=high / DEVIATIONS, low=0.0, high=high)


def total(figures: Iterable[Figure], divisor: float = 1.0) -> Figure:
    """Add up figures that are known and independent of each other; of a mean, `divisor` is their number."""
    known = list(figures)
    value = sum(each.value or 0.0 for each in known) / divisor
    if all(each.high is None for each in known):
        return Figure(value=value)
    return Figure(value=value, **_around(value, known, divisor))


def less(one: Figure, other: Figure) -> Figure:
    """Take one figure from another; both are known."""
    value = (one.value or 0.0) - (other.value or 0.0)
    if one.high is None and other.high is None:
        return Figure(value=value)
    mirrored = other.model_copy(update={"low": other.high, "high": other.low})
    return Figure(value=value, **_around(value, [one, mirrored], 1.0))


def scaled(one: Figure, by: float) -> Figure:
    """Give a known figure in another unit, or of another part."""
    limits = {name: getattr(one, name) for name in ("value", "standard_error", "low", "high")}
    return Figure(**{name: None if each is None else each * by for name, each in limits.items()})


def _around(value: float, figures: Iterable[Figure], divisor: float) -> dict[str, Any]:
    """Give error and limits of a sum: their distances from it are added as independent ones are."""
    known = [each for each in figures if each.high is not None]
    down = math.hypot(*((each.value or 0.0) - (each.low or 0.0) for each in known)) / divisor
    up = math.hypot(*((each.high or 0.0) - (each.value or 0.0) for each in known)) / divisor
    error = math.hypot(*(each.standard_error or 0.0 for each in known)) / divisor
    return {"standard_error": error, "low": value - down, "high": value + up}
