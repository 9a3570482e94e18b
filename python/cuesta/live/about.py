"""What a view says of a run that its observations do not: what is run, and what it must keep."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LiveLimit:
    """A limit of the plan, as far as a view can judge it: on times of the last second."""

    text: str
    """As in the plan."""
    figure: str
    """As in `echo.p95`."""
    value: float
    """Seconds."""


@dataclass(frozen=True, slots=True)
class About:
    """What is run."""

    title: str
    limits: Sequence[LiveLimit] = ()
