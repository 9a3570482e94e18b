"""What a search says after each trial: which load to try next and why, or what was found; and what it believes."""

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
class Belief:
    """Where the limit is by the trials so far."""

    point: float
    low: float
    high: float
    """The 90 % interval."""
    slope: float
    """How much the excess grows where the load grows by a hundredth of the limit, times a hundred."""
    noise: float
    """The scale of the differences between trials at one load, in natural logarithms."""


@dataclass(frozen=True, slots=True)
class Change:
    """A host that did worse at a load that it had met, after it failed at a larger one."""

    load: float
    """The load that had met the objective first."""
    after: float
    """The load that missed before it was worse."""
    before: float | None
    """What was measured of the worst limit at first, as a multiple of the limit; None if it was not measured."""
    then: float | None
    """The same when it was worse."""
    recovered_after: float | None = None
    """Seconds from the end of the trial that missed to that of the first trial as before; None: it did not recover."""
    level: float | None = None
    """The largest smaller load that still met the objective, of those that were tried; None: none is known."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a search. Loads are users, or arrivals a second."""

    users: float | None
    """The largest load that meets the objective, by all trials together; None if no load was seen to meet it."""
    interval: Span
    """With 90 % the limit lies between; None: no trial bounds it on that side."""
    certified: float | None
    """The largest load whose confirming trials show that it meets the objective, with 95 %."""
    breach: float | None
    """The smallest load that was shown to miss the objective, with 95 %."""
    trials: int
    """All trials, with those that did not count."""
    verdict: Literal["regular", "irregular"]
    """Irregular: the search could not bound the limit from both sides, confirmed no load, or could not finish."""
    limited_by: LimitedBy
    why: str
    """One sentence."""
    driver_limit: float | None = None
    """The smallest load that the driver could not offer; None if it could offer all that were tried."""
    change: Change | None = None
    """How the host changed during the search, the last time."""
    lacks_users: bool = False
    """Whether the users of an open load were too few to show the host's limit: nothing above `users` tells of it."""
