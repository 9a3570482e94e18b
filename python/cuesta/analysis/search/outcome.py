"""The decision after each trial: the next load and why, or the result; and the estimate of the limit."""

from dataclasses import dataclass
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a search. Loads are users, or arrivals a second."""

    users: float | None
    """The largest load that meets the objective, by all trials together; None if no trial passed."""
    interval: Span
    """The 90 % interval of the limit; None: no trial bounds it on that side."""
    certified: float | None
    """The largest confirmed load: its trials show with 95 % confidence that it meets the objective."""
    breach: float | None
    """The smallest load that was shown to miss the objective, with 95 % confidence."""
    trials: int
    """All trials, including those that did not count."""
    verdict: Literal["regular", "irregular"]
    """Irregular: the search could not bound the limit from both sides, confirmed no load, or could not finish."""
    limited_by: LimitedBy
    why: str
    """One sentence."""
    driver_limit: float | None = None
    """The smallest load that the driver could not offer; None if it could offer all that were tried."""
    change: HostChange | None = None
    """The last change of the host during the search."""
    lacks_users: bool = False
    """Whether an open load had too few users to show the host's limit: nothing is known above `users`."""
