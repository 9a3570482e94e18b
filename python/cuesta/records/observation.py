"""What is seen of a run while it goes on."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.records.messages import Snapshot, UserScreen
from cuesta.records.rows import MarkRow, MeterRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchChoice:
    """The trial that a search makes next, or makes just now."""

    load: float
    """Users, or arrivals a second."""
    purpose: str
    """What it is for: `bracket`, `refine`, `confirm`, `repeat`, `recover` or `check`."""
    because: str
    """Why this load, a clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTrial:
    """A trial of a search that was made."""

    number: int
    """From 1."""
    load: float
    """Users, or arrivals a second."""
    users: int
    choice: SearchChoice | None
    """What led to it; None if nothing did."""
    limit: str | None
    """The limit that it exceeds most, or is nearest to, as in the plan."""
    value: float | None
    """What was measured of that limit's figure, None if nothing was,"""
    unit: str | None
    """in this unit of the catalogue of figures."""
    ratio: float | None
    """How many times its bound that is: above 1 the limit is missed."""
    kept: bool | None
    """Whether it met the objective; None: it does not count."""
    notes: Sequence[str] = ()
    """Why it does not count, or misses for another reason than the limits."""
    low: float | None
    """Where the limit of the host was believed to be after it: between this load, which is None while none has met the
    objective,"""
    high: float | None
    """and this one, None while none has missed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """How far a search is."""

    objective: Sequence[str]
    """The limits, as in the plan."""
    load: str
    """What loads are: `users`, or a `rate` of arrivals a second."""
    trials: Sequence[SearchTrial] = ()
    """In order of time."""
    limit: float | None = None
    """The largest load that is believed to meet the objective; None before a trial met it."""
    low: float | None = None
    """The interval in which that load is: its lower end; None before a trial met the objective."""
    high: float | None = None
    """Its upper end; None before a trial missed it."""
    next: SearchChoice | None = None
    """The trial that is made just now; None once the search has ended."""
    ended: str | None = None
    """Why it has ended, a clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOfSeries:
    """Which run this is of several that belong together."""

    what: str
    """What is counted: `run` or `pair`."""
    number: int
    """From 1; one that does not count is made again under its number."""
    of: int
    """How many are to count."""
    name: str | None = None
    """Which run it is of a pair, or what it is for."""
    discarded: int = 0
    """How many did not count so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One moment of a run. What has not come yet is left out."""

    snapshots: Sequence[Snapshot]
    """The newest of each agent; they add up (`records.merging`)."""
    screens: Sequence[UserScreen] = ()
    """What those users see who are looked at."""
    meters: Sequence[MeterRecord] = ()
    """The newest reading of each host's meters, with `row` or `gap`."""
    marks: Sequence[MarkRow] = ()
    """All instants of the segment that were marked so far."""
    search: SearchState | None = None
    """How far the search is that the run belongs to."""
    series: RunOfSeries | None = None
    """Which run of several this is."""
    answers: Sequence[str] = ()
    """What came of changes that were asked for, a sentence each: all so far."""
