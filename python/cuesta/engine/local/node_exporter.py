"""Meters of another machine by the node_exporter that runs there already. It has the methods of `_native.Meters`."""

import socket
import threading
from base64 import b64encode
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, unquote, urlsplit

from cuesta import _native
from cuesta.errors import CuestaError
from cuesta.target import without_passwords

PATIENCE = 3.0
"""Seconds in which the next part of an answer must come."""
DEADLINE = 5.0
"""Seconds in which an answer must be complete, however slowly its parts come."""
LONGEST = 32 << 20
"""The most bytes of an answer; no node_exporter sends more."""


class NodeExporter:
    """A node_exporter at a URL such as `http://host:9100/metrics`, or `http://user:password@host:9100/metrics`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.shown = without_passwords(url)
        self.last = self.snapshot()

    def snapshot(self) -> str:
        """The counters now, as JSON. Raises CuestaError if there is no answer, or a malformed one."""
        try:
            return _native.node_exporter_snapshot(fetch(self.url).decode("utf-8", errors="replace"))
        except (OSError, HTTPException) as error:
            remedy = f"see whether `curl {self.shown}` answers; Debian's package is prometheus-node-exporter"
            raise CuestaError(f"{self.shown}: no meters there: {error}", remedy) from None
        except ValueError as error:
            raise CuestaError(f"{self.shown}: {error}", "is its path /metrics?") from None

    def report(self, since: str | None = None) -> str:
        """The report since a snapshot, or since the previous report without one. Raises CuestaError."""
        now = self.snapshot()
        try:
            report = _native.report_between(since or self.last, now)
        except _native.RunError as error:
            raise CuestaError(f"{self.shown}: {error}") from None
        if since is None:
            self.last = now
        return report


def fetch(url: str, deadline: float = DEADLINE) -> bytes:
    """The content at a URL. Raises OSError or HTTPException, also if it is too long or not complete by the deadline."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=min(PATIENCE, deadline))
    connection.connect()
    line, expired = connection.sock, threading.Event()  # an answer that closes the line takes `connection.sock` away

    def end() -> None:
        expired.set()
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(deadline, end)
    timer.daemon = True
    timer.start()
    try:
        content = _answer(connection, parts)
    except (OSError, HTTPException):
        if not expired.is_set():
            raise
    finally:
        timer.cancel()
        connection.close()
    if expired.is_set():
        raise TimeoutError(f"its answer was not complete after {deadline:g} s")
    return content


def _answer(connection: HTTPConnection, parts: SplitResult) -> bytes:
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    connection.request("GET", path, headers={"Connection": "close", **_login(parts)})
    with connection.getresponse() as answer:
        if answer.status != 200:
            raise HTTPException(f"{answer.status} {answer.reason}")
        content = answer.read(LONGEST + 1)
        if len(content) > LONGEST:
            raise HTTPException(f"its answer is over {LONGEST >> 20} MiB")
        if answer.length:
            raise HTTPException(f"its answer ends {answer.length} bytes early")
    return content


def _login(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode('ascii')}"}


def is_url(where: str) -> bool:
    """Whether the URL may be that of a node_exporter."""
    parts = urlsplit(where)
    return parts.scheme in ("http", "https") and bool(parts.hostname)
