"""The decision after each trial: the next load and why, or the result; and the estimate of the limit."""

from dataclasses import dataclass
from typing import Literal

from cuesta.figures.search import SearchFigures

Purpose = Literal["bracket", "refine", "confirm", "repeat", "recover", "check"]
LimitedBy = Literal["host", "driver", "highest", "lowest", "budget", "host gave out", "users", "doubts", "changed"]
Span = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Try:
    """The next trial."""

    load: float
    purpose: Purpose
    because: str
    """One plain clause."""


@dataclass(frozen=True, slots=True)
class LimitEstimate:
    """The limit by the trials so far."""

    point: float
    low: float
    high: float
    """The 90 % interval."""
    slope: float
    """Slope of the excess per relative load, at the limit."""
    noise: float
    """The scale of the differences between trials at one load, in natural logarithms."""


@dataclass(frozen=True, slots=True)
class HostChange:
    """A host that became worse at a load at which it had passed, after a miss at a larger one."""

    load: float
    """The load that passed first."""
    missed: float
    """The larger load that missed before."""
    before: float | None
    """The figure of the worst limit at first, as a multiple of its bound; None if it was not measured."""
    then: float | None
    """The same when it was worse."""
    recovered_after: float | None = None
    """Seconds from the end of the miss to that of the first check that passed; None: the host did not recover."""
    level: float | None = None
    """The largest lower load that was tried then and passed; None: none is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(SearchFigures):
    """The result of a search: its figures, and what changed or was missing. Loads are users, or arrivals a second."""

    driver_limit: float | None = None
    """The smallest load that the driver could not offer; None if it could offer all that were tried."""
    change: HostChange | None = None
    """The last change of the host during the search."""
    lacks_users: bool = False
    """Whether an open load had too few users to show the host's limit: nothing is known above `users`."""
