"""The page of a run, in a browser (`--web`)."""

import asyncio
from collections.abc import Sequence

from cuesta.live.followed import FollowedRun
from cuesta.publish.messages import FromPublisher, ToPublisher
from cuesta.publish.outlets import Say
from cuesta.records.messages import WatchOrder
from cuesta.site.access import Access
from cuesta.site.application import make_application
from cuesta.site.live_page import LivePage
from cuesta.site.serving import listen, read_address, serve


class Web:
    """Serves the page. An address that was not given is a free one if the usual one is taken."""

    name = "web"

    def __init__(self, run: FollowedRun, address: str, say: Say) -> None:
        self._listener = listen(*read_address(address), or_free=not address)
        access = Access(self._listener.host, self._listener.port)
        self.address = access.address
        self._page = LivePage(run, Orders(say))
        self._application = make_application(access, self._page.routes())
        self._stop = asyncio.Event()

    def take(self, _: ToPublisher) -> None:
        """Tell all pages what is new."""
        self._page.renew()

    async def serve(self) -> None:
        """Serve until it is closed, and then until open pages have loaded the report."""
        serving = asyncio.create_task(serve(self._application, self._listener, asyncio.Event()))
        await self._stop.wait()
        await self._page.hand_over()
        serving.cancel()

    def close(self) -> None:
        """The run has ended."""
        self._stop.set()


class Orders:
    """Passes on to the command what pages ask of the run."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def watch(self, users: Sequence[int]) -> None:
        """Show the screens of these users."""
        self._say(FromPublisher(watch=WatchOrder(users=tuple(users))))

    def mark(self, note: str) -> None:
        """Mark this instant."""
        self._say(FromPublisher(mark=note))

    def stop(self) -> None:
        """End the run."""
        self._say(FromPublisher(stop=True))
