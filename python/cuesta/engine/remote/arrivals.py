"""Where the connections of nodes arrive."""

import hmac
import json
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cuesta.engine.remote.row_stream import SocketStream
from cuesta.errors import CuestaError

CONNECT_TIMEOUT = 30.0
"""Seconds within which all agents must have connected."""
GREETING_TIMEOUT = 5.0
"""Seconds within which a connection must say whose it is."""
LONGEST_GREETING = 200
"""Bytes."""


class Arrivals:
    """A port of this machine. Who connects must know the token."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.token = secrets.token_hex(16)
        self.address: tuple[str, int] = listener.getsockname()[:2]

    def collect(self, count: int) -> dict[int, SocketStream]:
        """The streams of agents 0 to `count` - 1; those that have not connected in time are missing."""
        streams, until = dict[int, SocketStream](), time.monotonic() + CONNECT_TIMEOUT
        while len(streams) < count and (left := until - time.monotonic()) > 0:
            self._listener.settimeout(left)
            with suppress(OSError):
                connection = self._listener.accept()[0]
                if (number := self._read_greeting(connection)) in range(count):
                    streams[number] = SocketStream(connection)
                else:
                    connection.close()
        return streams

    def _read_greeting(self, connection: socket.socket) -> int:
        """The number of the agent at the other end; -1 if it does not know the token."""
        until, text = time.monotonic() + GREETING_TIMEOUT, b""
        try:
            while not text.endswith(b"\n") and len(text) < LONGEST_GREETING:
                connection.settimeout(max(until - time.monotonic(), 0.001))
                if not (byte := connection.recv(1)):  # one at a time: the next row is not for us
                    break
                text += byte
            greeting = json.loads(text)
            known = hmac.compare_digest(str(greeting["token"]).encode(), self.token.encode())
            return int(greeting["agent"]) if known else -1
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return -1


@contextmanager
def listen_at(address: str) -> Iterator[Arrivals]:
    """Listen at an address of this machine during the block, at any port. Raises CuestaError if it has no such one."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        listener = socket.create_server((address, 0), family=family, backlog=1024)
    except OSError as error:
        what = f"agents cannot connect to {address}: {(error.strerror or str(error)).lower()}"
        raise CuestaError(what, "it must be an address of this machine, which nodes reach") from None
    with listener:
        yield Arrivals(listener)
