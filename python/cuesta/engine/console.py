"""Where a run is watched and steered: its observer, the order to stop, and what else is asked of it meanwhile."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from cuesta import _native
from cuesta.engine.ports import Observer
from cuesta.records.messages import EngineMessage, WatchOrder
from cuesta.records.observation import Observation


def look_away(_: Observation) -> None:
    """Observe nothing."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An instant that somebody marked."""

    at: int
    """On the engine's clock."""
    note: str


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

    def change_users(self, by: int) -> None:
        """Add users, or take some if negative. What comes of it is told with the next observation (`told`)."""
        with self._lock:
            self._changes.append(UserRequest(_native.now(), by))

    def take_changes(self) -> list[UserRequest]:
        """Take what was asked for by `change_users` since the last call."""
        with self._lock:
            taken, self._changes = self._changes, []
        return taken

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
    may_change_users: bool = False
    """Whether they may change the number of users: not where the run stands for its plan, as one of a pair."""
