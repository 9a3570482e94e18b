"""A client of WebSocket servers that sends and shows single frames, to prove what the servers of tests/hosts/ do."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader

from tests.hosts.websocket import Opcode, header

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
"""The key of RFC 6455 §1.3."""
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""The answer to it that is printed there."""


@dataclass(frozen=True)
class WebClient:
    """One connection."""

    connection: socket.socket
    received: BufferedReader

    def ask(self, path: str = "/", method: str = "GET", **headers: str) -> str:
        """Send a request, and return the head of its answer. In the names of headers `_` stands for `-`."""
        rows = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        request = "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *rows, "", ""])
        self.connection.sendall(request.encode())
        rows = []
        while (row := self.received.readline()).strip():
            rows.append(row.decode("latin-1").strip())
        return "\n".join(rows)

    def upgrade(self, path: str = "/", **headers: str) -> str:
        """Ask for a WebSocket."""
        own = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": KEY}
        return self.ask(path, **own, **headers)

    def send(self, opcode: int, payload: bytes, *, final: bool = True) -> None:
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        self.connection.sendall(header(opcode, len(payload), final=final, masked=True) + mask + masked)

    def frame(self) -> tuple[int, bytes]:
        """The next frame: its first byte and its payload; at the end 0 and nothing."""
        if len(start := self.received.read(2)) < 2:
            return 0, b""
        length = start[1] & 127
        if length > 125:
            length = int.from_bytes(self.received.read(2 if length == 126 else 8), "big")
        return start[0], self.received.read(length)

    def shows(self, text: bytes) -> bytes:
        """What the payloads of binary messages are until they hold a text."""
        shown = b""
        while text not in shown:
            opcode, payload = self.frame()
            assert opcode == 0x80 | Opcode.BINARY, (opcode, payload, shown)
            shown += payload
        return shown


@contextmanager
def connected(port: int) -> Iterator[WebClient]:
    """Connect to a port of this machine; at the end of the block the connection is closed without a close frame."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection, connection.makefile("rb") as received:
        yield WebClient(connection, received)
