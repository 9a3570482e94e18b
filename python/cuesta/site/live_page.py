"""The page of a run that goes on: its events, the screens of its users, and what those who look at it ask for."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from markupsafe import Markup
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from cuesta.live.followed import FollowedRun, Moment
from cuesta.plain_text import plain
from cuesta.records.messages import UserScreen
from cuesta.records.reading import to_json
from cuesta.site.frame import frame

SCRIPTS = ("vega.js", "plots.js", "screen.js", "charts.js", "live.js")
"""`plots.js` draws the plots of the report at the end; here it only is loaded before the server has ended."""
ShowReport = Callable[[Request, Path], Awaitable[Response]]
"""Answers with the report of a folder."""
PARTS = files("cuesta.site")
BODY, STEERING = (Markup(PARTS.joinpath(name).read_text("utf-8")) for name in ("live.html", "steering.html"))  # noqa: S704
"""Parts of the page, which are written by hand."""
MOST_STREAMS = 256
"""Most pages that can be open at once."""
MOST_USERS = 4
"""Most users whose screens one page shows."""
MOST_WATCHED = 16
"""Most users whose screens all pages show together."""
MOST_NOTE = 200
"""Most characters of a note."""
SILENCE = 15.0
"""Seconds without news after which a comment is sent, so that an end that has gone away is noticed."""
TELLING = 5.0
"""Most seconds to wait, at the end, for open pages to take it: one may not read."""
LOADING = 60.0
"""Most seconds to wait, at the end, for open pages to load the report."""


class Asks(Protocol):
    """What a page asks of a run that can be steered."""

    def watch(self, users: Sequence[int], /) -> None:
        """Show the screens of these users, and no others."""

    def mark(self, note: str, /) -> None:
        """Mark this instant."""

    def stop(self) -> None:
        """End the run, and keep what was measured."""


class LivePage:
    """Serves one run. A page that is slow gets what is newest, and nothing waits for it."""

    def __init__(self, run: FollowedRun, asks: Asks | None = None, show_report: ShowReport | None = None) -> None:
        self._run, self._asks, self._show_report = run, asks, show_report
        self._news = asyncio.Event()
        self._events = _Events()
        self._loading = 0
        """Pages that were told the end, and load the report."""
        self._progress = asyncio.Event()
        """Set whenever a page has been told the end, or has loaded the report."""
        self._users: dict[object, Sequence[int]] = {}
        """The users whose screens each open page shows."""

    def routes(self) -> list[Route]:
        """Its routes; addresses in the page are relative to the first one."""
        steering = [Route("/mark", self._mark, methods=["POST"]), Route("/stop", self._stop, methods=["POST"])]
        return [
            Route("/", self.page),
            Route("/events", self.events),
            Route("/report", self.report),
            *(steering if self._asks else ()),
        ]

    @property
    def is_open(self) -> bool:
        """Whether anybody has the page open."""
        return bool(self._users)

    def renew(self) -> None:
        """Tell all pages what is new."""
        self._news.set()
        self._news = asyncio.Event()

    async def hand_over(self) -> None:
        """Wait until the pages that are open have loaded the report, but not for long.

        After a run that was killed there is nothing to wait for: no page is told its end.
        """
        if self._run.ending is None:
            return
        await self._wait(lambda: not self._users, TELLING)
        await self._wait(lambda: self._loading <= 0, LOADING)

    async def _wait(self, is_done: Callable[[], bool], most: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(most):
                while not is_done():
                    await self._progress.wait()
                    self._progress.clear()

    async def page(self, request: Request) -> Response:
        """The page itself."""
        body = BODY.format(steering=STEERING if self._asks else "")
        title, styles = plain(self._run.about.title), ("screen.css", "live.css")
        return HTMLResponse(frame(title, body, pages=request.app.state.pages, scripts=SCRIPTS, styles=styles))

    async def report(self, request: Request) -> Response:
        """The report, once the run has ended."""
        ending = self._run.ending
        if ending is None or ending.folder is None or self._show_report is None:
            raise HTTPException(404, "the run goes on" if ending is None else "there is no report of it")
        try:
            response = await self._show_report(request, Path(ending.folder))
        except BaseException:
            await self._count_report()
            raise
        response.background = BackgroundTask(self._count_report)
        return response

    async def _count_report(self) -> None:
        self._loading = max(self._loading - 1, 0)  # whoever has not been told the end may ask for it too
        self._progress.set()

    async def events(self, request: Request) -> Response:
        """What is new, as server-sent events, with the screens of the users that the address names."""
        users = read_users(request.query_params.get("users", ""))
        if len(self._users) >= MOST_STREAMS:
            raise HTTPException(503, "too many pages are open")
        stream = self.stream(users, loads_report="report" in request.query_params)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def stream(self, users: Sequence[int], *, loads_report: bool = False) -> AsyncGenerator[str]:
        """What a page is told that shows the screens of these users, as server-sent events.

        `loads_report`: whether it loads the report as soon as it is told the end.
        """
        page = object()
        self._show(page, users)
        try:
            async for part in self._follow(users):
                yield part
            self._loading += loads_report
        finally:
            del self._users[page]
            self._progress.set()
            self._ask_for_screens()

    async def _follow(self, users: Sequence[int]) -> AsyncIterator[str]:
        """What is new, as events, until the run has ended."""
        run = self._run
        sent = _Sent()
        while True:
            news = self._news
            for name, content in sent.catch_up(run, users):
                yield self._events.write(name, content)
            if run.ending:
                return
            try:
                await asyncio.wait_for(news.wait(), SILENCE)
            except TimeoutError:
                yield ": the run goes on\n\n"

    async def _mark(self, request: Request) -> Response:
        note = (await _read_object(request)).get("note")
        if not isinstance(note, str) or len(note) > MOST_NOTE:
            raise HTTPException(422, f"expected a note of at most {MOST_NOTE} characters")
        if self._asks:
            self._asks.mark(note)
        return Response(status_code=204)

    async def _stop(self, _: Request) -> Response:
        if self._asks:
            self._asks.stop()
        return Response(status_code=204)

    def _show(self, page: object, users: Sequence[int]) -> None:
        watched = {user for shown in self._users.values() for user in shown}
        self._users[page] = users if len(watched | set(users)) <= MOST_WATCHED else ()
        self._ask_for_screens()

    def _ask_for_screens(self) -> None:
        if self._asks:
            self._asks.watch(sorted({user for users in self._users.values() for user in users}))


class _Events:
    """Writes events. What all pages are told is written once."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[object, str]] = {}
        """The newest of each name, and its text."""

    def write(self, name: str, content: object) -> str:
        """An event as a page reads it."""
        known, text = self._newest.get(name, (None, ""))
        if known is not content:
            text = f"event: {name}\ndata: {to_json(content)}\n\n"
            self._newest[name] = content, text
        return text


class _Sent:
    """What one page has."""

    def __init__(self) -> None:
        self._moment: Moment | None = None
        self._points, self._told, self._marks = -2, 0, 0
        self._screens: list[UserScreen] = []

    def catch_up(self, run: FollowedRun, users: Sequence[int]) -> Iterator[tuple[str, object]]:
        """The events that it lacks, by name."""
        if not 0 <= run.timeline.added - self._points <= 1:
            self._points, self._told, self._marks = run.timeline.added, 0, 0
            yield "begin", run.course
        for name, log, count in (("told", run.told, self._told), ("mark", run.marks, self._marks)):
            for said in log.since(count):
                yield name, said
        self._told, self._marks = run.told.count, run.marks.count
        if run.moment and run.moment is not self._moment:
            self._moment = run.moment
            yield "moment", run.moment
        if run.timeline.added > self._points:
            self._points = run.timeline.added
            yield "point", run.timeline.points[-1]
        screens = [each for each in run.screens if each.user in users]
        if screens != self._screens:
            self._screens = screens
            yield "screens", screens
        if run.ending:
            yield "end", run.ending


def read_users(text: str) -> Sequence[int]:
    """Read the numbers of users, with commas. Raises HTTPException."""
    parts = [part for part in text.split(",") if part]
    if len(parts) > MOST_USERS or not all(part.isascii() and part.isdecimal() and len(part) < 8 for part in parts):
        raise HTTPException(422, f"users: expected at most {MOST_USERS} numbers with commas")
    return [int(part) for part in parts]


async def _read_object(request: Request) -> Mapping[str, object]:
    try:
        content = json.loads(await request.body())
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise HTTPException(422, "expected an object of JSON")
    return content
