"""Clients that never read, ask without end, or fall asleep: the run ends on time, and those who look at it see it."""

import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from tests.busy import BUSY
from tests.processes import command_of, descendants

IDLE = 200
MEASURED = 4
GROWTH = 16 << 20
"""Bytes that all these clients together may add to the process. Each connection takes some 50 KiB."""
ENDING = 10.0
"""Most seconds from the end of the run to that of the command, which loads and summarises the folder then."""
PLAN = f"""
users = 4
stagger = "1ms"
settle = "200ms"
measure = "{MEASURED}s"
line_speed = 0
think = "exp 100ms"
key_rate = 100
meters = "none"
{BUSY}"""


@dataclass
class Published:
    """A run that goes on, and its outlets."""

    command: subprocess.Popen[str]
    page: HTTPConnection
    metrics: HTTPConnection
    cookie: dict[str, str] = field(default_factory=dict)

    def enter(self, token: str) -> None:
        """Show the token, and keep the cookie."""
        self.page.request("POST", "/enter", token, {"Origin": f"http://127.0.0.1:{self.page.port}"})
        answer = self.page.getresponse()
        answer.read()
        self.page.close()
        self.cookie = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}

    def events(self) -> Iterator[tuple[str, Any]]:
        """What a page is told, until the run ends."""
        with closing(HTTPConnection("127.0.0.1", self.page.port)) as connection:
            connection.request("GET", "/events?users=0", headers=self.cookie)
            with connection.getresponse() as answer:
                for row in answer:
                    if row.startswith(b"event: "):
                        yield row[7:-1].decode(), json.loads(answer.readline()[6:])

    def connect(self, request: bytes = b"") -> socket.socket:
        """A connection that sends this, and never reads."""
        connection = socket.create_connection(("127.0.0.1", self.page.port))
        cookie = f"Cookie: {self.cookie['Cookie']}\r\n".encode()
        connection.sendall(request and request + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + cookie + b"\r\n")
        return connection

    def memory(self) -> int:
        """The most memory that the process which publishes the run has had so far; bytes."""
        (process,) = (pid for pid in descendants(self.command.pid) if b"cuesta.publish.process" in command_of(pid))
        status = Path(f"/proc/{process}/status").read_text()
        (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
        return int(peak) << 10


@contextmanager
def published(here: Path) -> Iterator[Published]:
    """Have a run during the block."""
    (here / "plan.toml").write_text(PLAN)
    flags = ["--web", "127.0.0.1:0", "--prometheus", "127.0.0.1:0", "--quiet", "--out", "run"]
    command = [sys.executable, "-m", "cuesta", "run", "plan.toml", *flags]
    with subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            found = (re.search(r"127.0.0.1:(\d+)(?:/#token=(\S+))?", row) for row in process.stderr)
            (page, token), (metrics, _) = (address.groups() for address in (next(found), next(found)) if address)
            run = Published(process, HTTPConnection("127.0.0.1", int(page)), HTTPConnection("127.0.0.1", int(metrics)))
            run.enter(token)
            yield run
        finally:
            process.kill()


@contextmanager
def flood(connection: HTTPConnection, path: str, headers: dict[str, str]) -> Iterator[list[int]]:
    """Ask again and again, until the server has ended; the statuses of the answers so far."""
    statuses = list[int]()

    def ask() -> None:
        with closing(connection), suppress(OSError, HTTPException):
            while True:
                connection.request("GET", path, headers=headers)
                with connection.getresponse() as answer:
                    answer.read()
                    statuses.append(answer.status)

    asking = threading.Thread(target=ask)
    asking.start()
    yield statuses
    asking.join()


def test_clients_that_ask_and_never_read_hold_up_neither_the_run_nor_a_page(tmp_path: Path) -> None:
    with ExitStack() as connections, published(tmp_path) as run:
        sleeping = run.connect(b"GET /events?users=1")
        events = run.events()
        first = next(events)
        before = run.memory()
        with flood(run.page, "/", run.cookie) as pages, flood(run.metrics, "/metrics", {}) as scrapes:
            for request in (b"", b"GET /static/vega.js") * (IDLE // 2):
                connections.enter_context(run.connect(request))
            answered = len(pages), len(scrapes)
            seen = list(events)
            ended, growth = time.monotonic(), run.memory() - before
            sleeping.close()  # at the end the command waits for open pages, so that they can load the report
            run.page.close()
            assert run.command.wait(60) == 0, run.command.stderr and run.command.stderr.read()
            took = time.monotonic() - ended
    assert seen[-1][0] == "end"
    known = [content["course"] for name, content in [first, *seen] if name == "begin"]
    course = {point["at"] for point in [*chain(*known), *(content for name, content in seen if name == "point")]}
    assert max(course) >= MEASURED
    assert max(later - earlier for earlier, later in pairwise(sorted(course))) < 2, "an interval is missing"
    assert set(pages) == set(scrapes) == {200}
    assert len(pages) > answered[0], "no page was answered beside all these clients"
    assert len(scrapes) > answered[1], "no scrape was answered beside all these clients"
    assert growth < GROWTH
    assert took < ENDING
