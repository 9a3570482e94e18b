"""The live pages of `cuesta live`: of runs that other commands make meanwhile, as far as their folders tell.

There are no screens of users, and nothing can be asked of these runs.
"""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from cuesta.figures.limit import Limit
from cuesta.ledger.run_tail import RunTail
from cuesta.live.about import describe_run
from cuesta.live.followed import Ending, FollowedRun
from cuesta.site.entries import Entry, find_state
from cuesta.site.live_page import LivePage

EVERY = 1.0
"""Seconds between looks at a folder."""

Find = Callable[[Request], Awaitable[Entry]]


class GoingOn:
    """The pages, each of which follows its folder from the first time that it is asked for to the end of the run."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._pages: dict[str, LivePage] = {}
        self._following: set[asyncio.Task[None]] = set()

    def routes(self) -> list[Route]:
        """The routes of all these pages."""
        return [
            Route("/run/{id}/live/", self._page),
            Route("/run/{id}/live/events", self._events),
            Route("/run/{id}/live/report", self._report),
        ]

    async def _page(self, request: Request) -> Response:
        return await (await self._of(request)).page(request)

    async def _events(self, request: Request) -> Response:
        return await (await self._of(request)).events(request)

    async def _report(self, request: Request) -> Response:
        """Leads to the run's own page, once it has ended."""
        entry = await self._find(request)
        if entry.state == "goes on":
            raise HTTPException(404, "the run goes on")
        return RedirectResponse(entry.address)

    async def _of(self, request: Request) -> LivePage:
        entry = await self._find(request)
        if entry.id not in self._pages:
            plan = entry.about.get("plan", {})
            run = FollowedRun(describe_run(entry.name, map(Limit.read, plan.get("limits", ()))))
            page = self._pages[entry.id] = LivePage(run)
            task = asyncio.create_task(self._follow(entry, run, page))
            self._following.add(task)
            task.add_done_callback(self._following.discard)
        return self._pages[entry.id]

    async def _follow(self, entry: Entry, run: FollowedRun, page: LivePage) -> None:
        tail = RunTail(entry.folder)
        while not run.ending:
            # Before it reads: what is recorded until then is read.
            has_ended = await asyncio.to_thread(find_state, entry.folder, entry.about) != "goes on"
            for seen in await asyncio.to_thread(lambda: [*tail.read()]):
                run.take(seen)
            if has_ended:
                run.end(Ending(sentence="the run has ended", folder=str(entry.folder)))
                del self._pages[entry.id]
            page.renew()
            await asyncio.sleep(EVERY)
