"""What other programs are told of a run: counts and distributions since its start, how things stand, and its events.

Durations are by group and by transaction, never by user.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from cuesta._native import Histogram
from cuesta.live.view import View
from cuesta.plain_text import plain
from cuesta.records.messages import Snapshot
from cuesta.records.series import KEYS
from cuesta.units import many

OF_KEYS = ("echo", "lateness")
OF_TRANSACTIONS = ("response", "first_response")
"""The time series that are told, by the names of their figures."""
MOST_EVENTS = 200
"""The newest are kept: each is a time series of its own."""


@dataclass(frozen=True, slots=True, order=True)
class Distribution:
    """Which durations: `cuesta.FIGURE.duration`."""

    figure: str
    group: str
    transaction: str
    """Empty for durations of keys."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Since the start of the run."""

    transactions: int = 0
    keys: int = 0
    characters: Mapping[str, int] = field(default_factory=lambda: {"in": 0, "out": 0})
    """Those typed are `in`, those shown `out`."""
    errors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a chart marks."""

    kind: str
    """`step`: a load step or a trial began; `mark`: somebody marked the instant; `told`: a sentence on the progress."""
    note: str
    at: float
    """Seconds since 1970."""


Durations = Mapping[Distribution, Histogram]


class Metrics:
    """Takes what is seen of a run, and says what other programs are told. Segments of a run add up.

    One thread may take while others ask.
    """

    def __init__(self, run_id: str = "", clock: Callable[[], float] = time.time) -> None:
        self.run_id = run_id
        self.started = clock()
        """Seconds since 1970."""
        self.view: View | None = None
        """The newest moment."""
        self._clock = clock
        self._lock = threading.Lock()
        self._latest: dict[int, Snapshot] = {}
        self._ended = (Counts(), dict[Distribution, Histogram]())
        """What was counted in segments that have ended."""
        self._segments = 0
        self._step: tuple[int, int] | None = None
        self._events: deque[Event] = deque(maxlen=MOST_EVENTS)

    def take(self, snapshots: Sequence[Snapshot], view: View) -> None:
        """Take what is seen now: the newest snapshot of each agent, and the moment that they make."""
        with self._lock:
            if any(self._is_of_another_segment(snapshot) for snapshot in snapshots):
                self._ended = self._add_up()
                self._segments += 1
                self._latest.clear()
            self._latest.update({snapshot.agent: snapshot for snapshot in snapshots})
            self.view = view
            step = self._segments, view.step
            if view.phase != "start" and step != self._step:
                self._step = step
                self._note("step", describe_step(view))

    def mark(self, note: str) -> None:
        """Tell that somebody marked this instant."""
        with self._lock:
            self._note("mark", note)

    def tell(self, text: str) -> None:
        """Tell a sentence on the progress."""
        with self._lock:
            self._note("told", text)

    def events(self) -> list[Event]:
        """The newest events, the oldest first."""
        with self._lock:
            return [*self._events]

    def counts(self) -> Counts:
        """What was counted since the start of the run."""
        with self._lock:
            return self._count()

    def durations(self) -> Durations:
        """All durations since the start of the run."""
        with self._lock:
            before, snapshots = self._ended[1], [*self._latest.values()]
        return _add_durations(before, snapshots)

    def _is_of_another_segment(self, snapshot: Snapshot) -> bool:
        before = self._latest.get(snapshot.agent)
        return before is not None and snapshot.seconds < before.seconds

    def _add_up(self) -> tuple[Counts, dict[Distribution, Histogram]]:
        return self._count(), _add_durations(self._ended[1], self._latest.values())

    def _count(self) -> Counts:
        return _add_counts(self._ended[0], self._latest.values())

    def _note(self, kind: str, note: str) -> None:
        self._events.append(Event(kind, plain(note), self._clock()))


def describe_step(view: View) -> str:
    """A step or a trial in words. Trials are the steps of a run to which more may be added."""
    name = "trial" if view.total is None else "step"
    return f"{name} {view.step + 1}: {many(load(view), 'user')}"


def load(view: View) -> int:
    """The users of the step, started or not, as far as is known."""
    return sum(view.doing.values()) or view.users


def _add_counts(before: Counts, snapshots: Iterable[Snapshot]) -> Counts:
    totals = [snapshot.totals for snapshot in snapshots if snapshot.totals]
    errors = Counter[str](before.errors)
    for each in totals:
        errors.update(each.errors)
    return Counts(
        transactions=before.transactions + sum(each.transactions for each in totals),
        keys=before.keys + sum(each.keys for each in totals),
        characters={
            "in": before.characters["in"] + sum(each.characters.in_ for each in totals),
            "out": before.characters["out"] + sum(each.characters.out for each in totals),
        },
        errors=errors,
    )


def _add_durations(before: Durations, snapshots: Iterable[Snapshot]) -> dict[Distribution, Histogram]:
    parts = {which: [histogram] for which, histogram in before.items()}
    for snapshot in snapshots:
        for tag, encoded in snapshot.series.items():
            if which := _distribution(tag):
                parts.setdefault(which, []).append(Histogram.decode(encoded))
    return {which: total for which, all_of_it in sorted(parts.items()) if (total := _sum(all_of_it))}


def _sum(histograms: Sequence[Histogram]) -> Histogram | None:
    return histograms[0] if len(histograms) == 1 else Histogram.sum(histograms)


def _distribution(tag: str) -> Distribution | None:
    """Which durations a series has; None if they are not told."""
    group, source, series = (plain(unquote(part)) for part in tag.split("/"))
    if source == KEYS:
        return Distribution(series, group, "") if series in OF_KEYS else None
    return Distribution(series, group, source) if series in OF_TRANSACTIONS else None
