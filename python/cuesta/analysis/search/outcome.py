"""What a search says after each trial: which load to try next and why, or what was found; and what it believes."""

from dataclasses import dataclass
from typing import Literal

Purpose = Literal["bracket", "refine", "confirm", "repeat", "recover"]
LimitedBy = Literal["host", "driver", "highest", "lowest", "budget", "host gave out", "users", "doubts"]
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
    lacks_users: bool = False
    """Whether the users of an open load were too few to show the host's limit: nothing above `users` tells of it."""
