"""To whom a run can be published: one class each, all of one shape."""

from collections.abc import Callable
from typing import Protocol

from cuesta.live.followed import FollowedRun
from cuesta.publish.messages import Beginning, FromPublisher, ToPublisher
from cuesta.records.messages import WatchOrder

Say = Callable[[FromPublisher], None]
"""Tells the command."""


class Outlet(Protocol):
    """Publishes a run in one way."""

    name: str
    """As its flag, without the dashes."""
    address: str
    """Where it can be had; empty if it goes there by itself."""

    def take(self, message: ToPublisher, /) -> None:
        """Take what is new. The followed run knows it already. Never waits."""

    async def serve(self) -> None:
        """Serve until it is closed."""

    def close(self) -> None:
        """Have `serve` end soon: the run has ended."""


class Requests:
    """What outlets ask of the run, told to the command as one."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._watched: dict[str, WatchOrder] = {}
        self._asked: WatchOrder | None = None

    def watch(self, outlet: str, order: WatchOrder) -> None:
        """Have the drivers show what an outlet publishes, beside what others do."""
        self._watched[outlet] = order
        orders = self._watched.values()
        users = dict.fromkeys(user for each in orders for user in each.users)
        series = any(each.series for each in orders)
        order = WatchOrder(users=tuple(users), series=series)
        if order != self._asked:  # pages come and go faster than what they show changes
            self._asked = order
            self._say(FromPublisher(watch=order))

    def mark(self, note: str) -> None:
        """Mark this instant."""
        self._say(FromPublisher(mark=note))

    def stop(self) -> None:
        """End the run."""
        self._say(FromPublisher(stop=True))

    def warn(self, sentence: str) -> None:
        """Tell what does not work any longer."""
        self._say(FromPublisher(warning=sentence))


def open_outlets(run: FollowedRun, beginning: Beginning, say: Say) -> list[Outlet]:
    """Those that are wanted; they serve from now on. Raises CuestaError if an address cannot be had."""
    wanted, requests, outlets = beginning.outlets, Requests(say), list[Outlet]()
    # Each loads what the others need not.
    if wanted.web is not None:
        from cuesta.publish.web import Web  # noqa: PLC0415

        outlets.append(Web(run, wanted.web, requests))
    if wanted.prometheus is not None:
        from cuesta.publish.scraped import Scraped  # noqa: PLC0415

        outlets.append(Scraped(run, beginning.run, wanted.prometheus, requests))
    if wanted.otlp:
        from cuesta.publish.sent import Sent  # noqa: PLC0415

        outlets.append(Sent(run, beginning.run, requests))
    if wanted.json_lines:
        from cuesta.publish.printed import Printed  # noqa: PLC0415

        outlets.append(Printed(run))
    return outlets
