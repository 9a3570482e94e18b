"""To whom a run can be published: one class each, all of one shape."""

from collections.abc import Callable
from typing import Protocol

from cuesta.live.followed import FollowedRun
from cuesta.publish.messages import Beginning, FromPublisher, ToPublisher

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
        """Have `serve` end soon."""


def open_outlets(run: FollowedRun, beginning: Beginning, say: Say) -> list[Outlet]:
    """Those that are wanted; they serve from now on. Raises CuestaError if an address cannot be had."""
    wanted, outlets = beginning.outlets, list[Outlet]()
    if wanted.web is not None:
        from cuesta.publish.web import Web  # noqa: PLC0415, each loads what the others need not

        outlets.append(Web(run, wanted.web, say))
    return outlets
