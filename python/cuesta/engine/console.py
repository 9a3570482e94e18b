"""Where a run is watched and steered: its observer, the order to stop, and what else is asked of it meanwhile."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from cuesta import _native
from cuesta.engine.ports import Observer
from cuesta.records.messages import EngineMessage, WatchOrder
from cuesta.records.observation import Observation, RunOfSeries


def look_away(_: Observation) -> None:
    """Observe nothing."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An instant that somebody marked."""

    at: int
    """On the engine's clock."""
    note: str


class Requests:
    """What those who watch a run ask of it. They ask at any time, on any thread; the engine takes it when it looks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders: list[EngineMessage] = []
        self._marks: list[Mark] = []
        self._watched: dict[object, WatchOrder] = {}

    def watch(self, viewer: object, users: Iterable[int] = (), *, series: bool = False) -> None:
        """Show a viewer the screens of these users from now on, and no others; `series`: each series by itself."""
        with self._lock:
            self._watched[viewer] = WatchOrder(users=tuple(users), series=series)
            self._orders.append(EngineMessage(watch=self._all_watched()))

    def hold_starts(self, hold: bool) -> None:
        """Have users who have not started wait, or start."""
        with self._lock:
            self._orders.append(EngineMessage(hold_starts=hold))
            self._marks.append(Mark(_native.now(), "starts are held" if hold else "starts go on"))

    def mark(self, note: str) -> None:
        """Mark this instant."""
        with self._lock:
            self._marks.append(Mark(_native.now(), note))

    def take(self) -> tuple[list[EngineMessage], list[Mark]]:
        """Take the orders for all agents, and the marks, since the last call."""
        with self._lock:
            taken = self._orders, self._marks
            self._orders, self._marks = [], []
        return taken

    def standing(self) -> list[EngineMessage]:
        """The orders that hold on: agents that start later are told them too."""
        with self._lock:
            return [EngineMessage(watch=self._all_watched())] if self._watched else []

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

    def showing(self, add: Callable[[Observation], Observation]) -> "Console":
        """The same, whose observer receives what `add` makes of what is seen."""
        return replace(self, observer=lambda seen: self.observer(add(seen)))

    def in_series(self, series: RunOfSeries) -> "Console":
        """The same for one run of several."""
        return self.showing(lambda seen: replace(seen, series=series))
