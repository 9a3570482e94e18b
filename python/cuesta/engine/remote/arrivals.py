"""Where the connections of nodes arrive."""

import hmac
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cuesta.engine.remote.row_stream import SocketStream

PATIENCE = 30.0
"""Seconds within which all agents must have connected."""
GREETING = 5.0
"""Seconds within which a connection must say whose it is."""


class Arrivals:
    """A port of this machine. Who connects must know the token."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.token = secrets.token_hex(16)
        self.address: tuple[str, int] = listener.getsockname()[:2]

    def collect(self, count: int) -> dict[int, SocketStream]:
        """The streams of agents 0 to `count` - 1; those that have not connected in time are missing."""
        streams, until = dict[int, SocketStream](), time.monotonic() + PATIENCE
        while len(streams) < count and (left := until - time.monotonic()) > 0:
            self._listener.settimeout(left)
            with suppress(TimeoutError):
                stream = SocketStream(self._listener.accept()[0])
                if (number := self._read_greeting(stream)) in range(count):
                    streams[number] = stream
                else:
                    stream.close()
        return streams

    def _read_greeting(self, stream: SocketStream) -> int:
        """The number of the agent at the other end; -1 if it does not know the token."""
        match stream.receive_one(GREETING):
            case {"agent": int(number), "token": str(token)} if hmac.compare_digest(token, self.token):
                return number
        return -1


@contextmanager
def listen_at(address: str) -> Iterator[Arrivals]:
    """Listen at an address of this machine during the block, at any port."""
    with socket.create_server((address, 0), backlog=1024) as listener:
        yield Arrivals(listener)
