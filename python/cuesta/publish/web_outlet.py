"""The page of a run, in a browser (`--web`)."""

import asyncio
from functools import partial

from cuesta.live.followed import FollowedRun
from cuesta.publish.messages import ToPublisher
from cuesta.publish.remote_steering import RemoteSteering
from cuesta.site.access import Access
from cuesta.site.application import make_application
from cuesta.site.finished import show_report
from cuesta.site.live_page import LivePage
from cuesta.site.reports import Reports
from cuesta.site.serving import listen, read_address, serve


class WebOutlet:
    """Serves the page. An address that was not given is a free one if the usual one is taken."""

    name = "web"

    def __init__(self, run: FollowedRun, address: str, steering: RemoteSteering) -> None:
        self._listener = listen(*read_address(address), or_free=not address)
        access = Access(self._listener.host, self._listener.port)
        self.address = access.address
        self._steering = steering
        self._page = LivePage(run, steering, partial(show_report, Reports()))
        self._application = make_application(access, self._page.routes(), pages={})
        self._has_ended, self._stop = asyncio.Event(), asyncio.Event()

    def take(self, _: ToPublisher) -> None:
        """Tell all pages what is new."""
        self._page.renew()

    async def serve(self) -> None:
        """Serve until it is closed, and then until open pages have loaded the report."""
        self._steering.watch()
        serving = asyncio.create_task(serve(self._application, self._listener, self._stop))
        await self._has_ended.wait()
        await self._page.hand_over()
        self._stop.set()
        await serving

    def close(self) -> None:
        """The run has ended."""
        self._has_ended.set()
