"""Serves an application, or the pages of some folders, in a thread of the test."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

from starlette.routing import BaseRoute

from cuesta.site.access import Access
from cuesta.site.application import make_application
from cuesta.site.entries import Entries
from cuesta.site.finished import Finished
from cuesta.site.reports import Reports
from cuesta.site.serving import listen, serve


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Served:
    """A server that runs."""

    access: Access
    stop: Callable[[], None]
    """Ends it, and waits until it has ended."""
    cookie: str = ""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.access.port}"

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        """One request; names of headers have `_` for `-`."""
        connection = HTTPConnection("127.0.0.1", self.access.port, timeout=30)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        cookie = {"Cookie": self.cookie} if self.cookie else {}
        connection.request(method, path, body, cookie | sent)
        answer: HTTPResponse = connection.getresponse()
        got = Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        connection.close()
        return got

    def enter(self) -> "Served":
        """Show the token, and keep the cookie."""
        answer = self.ask("/enter", "POST", self.access.token.encode(), Origin=self.origin)
        assert answer.status == 204, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return self


@contextmanager
def served(routes: Sequence[BaseRoute]) -> Iterator[Served]:
    """Serve routes during the block."""
    listener = listen("127.0.0.1", 0)
    access = Access(listener.host, listener.port)
    stopping: list[Callable[[], object]] = []
    ready = threading.Event()

    async def run() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        stopping.append(lambda: loop.call_soon_threadsafe(stop.set))
        ready.set()
        await serve(make_application(access, routes), listener, stop)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert ready.wait(30)

    def end() -> None:
        if thread.is_alive():
            stopping[0]()
        thread.join(30)
        assert not thread.is_alive(), "the server has not ended"

    try:
        yield Served(access, end)
    finally:
        end()


@contextmanager
def served_folders(place: Path, *folders: Path) -> Iterator[Served]:
    """Serve the pages of folders, with the token shown; `place` is a folder for the ledger's database."""
    place.mkdir(exist_ok=True)
    with served(Finished(Entries(folders), Reports(), place / "ledger.duckdb").routes()) as server:
        yield server.enter()
