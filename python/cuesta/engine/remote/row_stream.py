"""Rows of JSON both ways over a connection."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from cuesta.engine.ports import Row

IDLE, BETWEEN, PROBES = 2, 2, 3
"""Seconds without a packet until the kernel asks whether the other end is there, seconds between such probes, and how
many may fail: an end whose link is cut finds out after IDLE + BETWEEN × PROBES seconds."""
OPTIONS = {
    socket.TCP_NODELAY: 1,
    socket.TCP_KEEPIDLE: IDLE,
    socket.TCP_KEEPINTVL: BETWEEN,
    socket.TCP_KEEPCNT: PROBES,
    socket.TCP_USER_TIMEOUT: 1000 * (IDLE + BETWEEN * PROBES),
}
LONGEST_ROW = 64 << 20
"""Bytes."""


class RowStream:
    """Rows to and from the other end. Several threads may send; one receives."""

    def __init__(self, reader: BinaryIO, write: Callable[[bytes], object]) -> None:
        """`write` writes all that it is given, or raises OSError."""
        self._reader, self._write = reader, write
        self._lock = threading.Lock()

    def send(self, row: Row) -> None:
        """Send a row. If the connection is lost nothing is raised here: `receive` ends."""
        text = json.dumps(row).encode() + b"\n"
        with self._lock, suppress(OSError):
            self._write(text)

    def receive(self) -> Iterator[dict[str, Any]]:
        """Yield the other end's rows until it sends no more, or the connection is lost.

        An empty row only says that the other end is there, and is left out.
        """
        with suppress(OSError, ValueError, RecursionError):
            while (text := self._reader.readline(LONGEST_ROW)).endswith(b"\n"):
                if row := json.loads(text):
                    yield row


class SocketStream(RowStream):
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(None)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in OPTIONS.items():
                connection.setsockopt(socket.IPPROTO_TCP, option, value)
        self._connection = connection
        super().__init__(connection.makefile("rb"), connection.sendall)

    def receive_one(self, timeout: float) -> dict[str, Any] | None:
        """The other end's next row; None if none arrives within `timeout` seconds."""
        self._connection.settimeout(timeout)
        try:
            return next(self.receive(), None)
        finally:
            self._connection.settimeout(None)

    def close(self) -> None:
        """End both ways at once: `receive` ends at both ends."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._reader.close()  # once the thread that receives has come back
        self._connection.close()
