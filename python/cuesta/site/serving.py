"""Serves an application with uvicorn, on a socket that is bound before: its port is known before anything starts.

A client cannot hold up the server: a connection that asks for nothing, or does not read what it asked for, is
closed after some seconds, and there are only so many.
"""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from cuesta.errors import CuestaError, UsageError
from cuesta.target import LOOPBACK
from cuesta.terminal import inform

PORT = 8089
"""Where pages are unless another port is given."""
REQUEST_SECONDS = 10.0
"""Within which a connection must have sent a request, and read what it is sent."""
MOST_CONNECTIONS = 256
MOST_HEADERS = 16 * 1024
"""Bytes of the head of a request."""
END_SECONDS = 1
"""How long answers that are under way, such as streams, may take at the end."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that is bound."""

    socket: socket.socket
    host: str
    """As it was given."""
    port: int

    @property
    def address(self) -> str:
        """As an address of a page has it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str, usual: int = PORT) -> tuple[str, int]:
    """Read `HOST:PORT`, `HOST`, `:PORT`, `PORT` or an empty text; an IPv6 address has brackets. Raises UsageError.

    `usual` is the port unless one is given.
    """
    host, separator, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not separator and not host:
        host, port = ("", port) if port.isdecimal() else (port, "")
    inside = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if (":" in inside) != (inside != host) or not (port or "0").isdecimal() or int(port or "0") > 65535:
        what = f"{text}: expected an address to serve pages at"
        raise UsageError(what, f"HOST:PORT, as 127.0.0.1:{usual} or [::1]:{usual}; port 0 is a free one")
    return inside or LOOPBACK, int(port or usual)


def listen(host: str, port: int, *, or_free: bool = False) -> Listener:
    """Bind a socket; port 0 is a free one, and so with `or_free` is one that is taken. Raises CuestaError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(64)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        if or_free and port:
            return listen(host, 0)
        raise CuestaError(f"{host}:{port}: {error.strerror}", "give another address; port 0 is a free one") from None
    return Listener(bound, host, bound.getsockname()[1])


async def serve(application: ASGIApp, listener: Listener, stop: asyncio.Event) -> None:
    """Serve until `stop` is set; then answers that are under way have a second to end. The socket is closed."""
    _report_failures()
    server = _Server(
        uvicorn.Config(
            application,
            http=_Connection,
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=END_SECONDS,
            h11_max_incomplete_event_size=MOST_HEADERS,
        )
    )
    serving = asyncio.create_task(server.serve(sockets=[listener.socket]))
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        server.should_exit = True
        await serving


class _Server(uvicorn.Server):
    """uvicorn's server, without its handlers of signals: who serves also says when it ends."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Connection(H11Protocol):
    """uvicorn's connection, which is closed when it asks for nothing, or does not read."""

    _asking: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        super().connection_made(transport)
        self._wait_for_request()
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_for_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait_for_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._reading)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        _cancel(self._asking)
        _cancel(self._reading)

    def _wait_for_request(self) -> None:
        """Close the connection after some seconds without a request; one that is under way may take longer."""
        if self.cycle is not None and not self.cycle.response_complete:
            _cancel(self._asking)
            self._asking = None
        elif self._asking is None:
            self._asking = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class _Failures(logging.Handler):
    """Prints failures of the application; what clients do wrong is their matter."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info and record.exc_info[1]
        if isinstance(error, Exception):
            inform(f"cuesta: a page could not be served: {type(error).__name__}: {error}")


def _report_failures() -> None:
    logger = logging.getLogger("uvicorn")
    logger.propagate = False
    logger.setLevel(logging.ERROR)
    logger.handlers = [_Failures()]
