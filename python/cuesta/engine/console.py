"""Where a run is watched and steered: its observer, the order to stop, and what else is asked of it meanwhile."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from cuesta import _native
from cuesta.engine.ports import Observer
from cuesta.plain_text import plain
from cuesta.records.messages import EngineMessage, WatchOrder
from cuesta.records.observation import Observation, RunOfSeries

LONGEST_NOTE = 200
"""Characters of a note that are kept."""


def look_away(_: Observation) -> None:
    """Observe nothing."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An instant that somebody marked."""

    at: int
    """On the engine's clock."""
    note: str
    holds_starts: bool | None = None
    """Whether users who have not started wait from then on; None for a mark that changes nothing."""

    @classmethod
    def now(cls, note: str, holds_starts: bool | None = None) -> Self:
        """Mark this instant. The note is one row without control characters, and not longer than `LONGEST_NOTE`."""
        return cls(_native.now(), plain(" ".join(note.split()))[:LONGEST_NOTE], holds_starts)


class Watcher(Protocol):
    """Somebody who watches a run, and costs the driver's machine CPU time. Asked on the engine's thread."""

    @property
    def name(self) -> str:
        """What watches, such as `live view`."""

    def cpu(self) -> float:
        """Seconds of CPU time so far; of a process that has ended, all that it used. It never raises."""


@dataclass(frozen=True, slots=True)
class UserRequest:
    """Somebody asked for more or fewer users."""

    at: int
    """On the engine's clock."""
    by: int
    """How many users are to be added; negative: taken."""


class Requests:
    """What those who watch a run ask of it. They ask at any time, on any thread; the engine takes it when it looks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders: list[EngineMessage] = []
        self._marks: list[Mark] = []
        self._changes: list[UserRequest] = []
        self._answers: tuple[str, ...] = ()
        self._watched: dict[object, WatchOrder] = {}
        self._holds_starts = False

    def watch(self, viewer: object, users: Iterable[int] = (), *, series: bool = False) -> None:
        """Show a viewer the screens of these users from now on, and no others; `series`: each series by itself."""
        with self._lock:
            self._watched[viewer] = WatchOrder(users=tuple(users), series=series)
            self._orders.append(EngineMessage(watch=self._all_watched()))

    def hold_starts(self, hold: bool) -> None:
        """Have users who have not started wait, or start."""
        with self._lock:
            self._holds_starts = hold
            self._orders.append(EngineMessage(hold_starts=hold))
            self._marks.append(Mark.now("starts are held" if hold else "starts go on", hold))

    def mark(self, note: str) -> None:
        """Mark this instant."""
        with self._lock:
            self._marks.append(Mark.now(note))

    def change_users(self, by: int) -> None:
        """Add users, or take some if negative. What comes of it is among the `answers` of observations."""
        with self._lock:
            self._changes.append(UserRequest(_native.now(), by))

    def take_changes(self) -> list[UserRequest]:
        """Take what was asked for by `change_users` since the last call."""
        with self._lock:
            taken, self._changes = self._changes, []
        return taken

    def answer(self, what: str) -> None:
        """Tell those who watch the result of a change, in a sentence."""
        with self._lock:
            self._answers = (*self._answers, what)

    def answers(self) -> Sequence[str]:
        """All answers so far."""
        return self._answers

    def take_orders(self) -> list[EngineMessage]:
        """Take the orders for all agents since the last call."""
        with self._lock:
            taken, self._orders = self._orders, []
        return taken

    def take_marks(self) -> list[Mark]:
        """Take the marks since the last call."""
        with self._lock:
            taken, self._marks = self._marks, []
        return taken

    def standing(self) -> list[EngineMessage]:
        """The orders that hold on: agents that start later are told them too."""
        with self._lock:
            watching = [EngineMessage(watch=self._all_watched())] if self._watched else []
            return [*watching, EngineMessage(hold_starts=True)] if self._holds_starts else watching

    def _all_watched(self) -> WatchOrder:
        orders = self._watched.values()
        users = dict.fromkeys(user for order in orders for user in order.users)
        return WatchOrder(users=tuple(users), series=any(order.series for order in orders))


@dataclass(frozen=True, slots=True)
class Console:
    """Who watches a run, and what stops and steers it."""

    observer: Observer = look_away
    """Receives what is seen, a few times a second."""
    stop: threading.Event = field(default_factory=threading.Event)
    """If set, the run ends early and keeps what was measured."""
    requests: Requests = field(default_factory=Requests)
    """What those who watch ask for."""
    watchers: Sequence[Watcher] = ()
    """Those who watch on this machine: what they cost is recorded with each step."""
    may_change_users: bool = False
    """Whether they may change the number of users: not where the run stands for its plan, as one of a pair."""

    def showing(self, add: Callable[[Observation], Observation]) -> "Console":
        """The same, whose observer receives what `add` makes of what is seen."""
        return replace(self, observer=lambda seen: self.observer(add(seen)))

    def in_series(self, series: RunOfSeries) -> "Console":
        """The same for one run of several."""
        return self.showing(lambda seen: replace(seen, series=series))
