"""A client of a server, and what a good server answers."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from tests.hosts.websocket import GOING, Opcode, Request, frame, read_typed, upgrade

PROMPT = frame(Opcode.BINARY, b"$ ")
ACCOUNTS = (
    ("/token", b'{"token": ""}'),
    ("/api/terminals", b'{"name": "1", "last_activity": "2026-01-01T00:00:00Z"}'),
    ("/auth_token.js", b"var gotty_auth_token = '';"),
)
"""What ttyd, Jupyter Server and GoTTY answer before the WebSocket, by the end of the path."""


@dataclass(frozen=True)
class Caller:
    """A client and its request."""

    reader: StreamReader
    writer: StreamWriter
    request: Request

    async def send(self, data: bytes) -> None:
        """Send, once the client has read most of what was sent before. Raises what is in GOING."""
        self.writer.write(data)
        await self.writer.drain()

    async def repeat(self, data: bytes) -> None:
        """Send the same until the client goes, as fast as it reads."""
        while True:
            await self.send(data)

    async def flood(self, data: bytes) -> None:
        """Send the same a hundred times a second, until the client goes."""
        while True:
            await self.send(data)
            await asyncio.sleep(0.01)

    async def drip(self, data: bytes, seconds: float) -> None:
        """Send single bytes, each in a packet of its own."""
        for at in range(len(data)):
            await self.send(data[at : at + 1])
            await asyncio.sleep(seconds)

    async def answer(self, body: bytes, status: str = "200 OK", **headers: str) -> None:
        """Answer with HTTP. In the names of headers `_` stands for `-`."""
        own = {"Content-Type": "application/json", "Content-Length": str(len(body))} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        rows = [f"{name}: {value}" for name, value in own.items() if value]
        await self.send("\r\n".join([f"HTTP/1.1 {status}", *rows, "", ""]).encode() + body)

    async def answer_well(self) -> None:
        """Answer a request that is none for a WebSocket."""
        path = self.request.path.partition("?")[0]
        if self.request.method == "DELETE":
            await self.answer(b"", "204 No Content")
        else:
            await self.answer(next((body for end, body in ACCOUNTS if path.endswith(end)), b"{}"))

    async def upgrade(self) -> None:
        await self.send(upgrade(self.request))

    async def echo(self, prompt: bytes = PROMPT) -> None:
        """Be a terminal: show a prompt and echo what is typed, until the client goes."""
        await self.send(prompt)
        while typed := await read_typed(self.reader, self.writer):
            await self.send(frame(Opcode.BINARY, typed.replace(b"\r", b"\r\n$ ")))

    async def ignore(self) -> None:
        """Read until the client goes, and answer nothing."""
        with suppress(*GOING):
            while await self.reader.read(1 << 16):
                pass

    def hang_up(self) -> None:
        self.writer.close()


Shape = Callable[[Caller], Awaitable[None]]
"""What a server of one shape does to a client."""


async def be_good(caller: Caller) -> None:
    """Take the WebSocket and be a terminal."""
    await caller.upgrade()
    await caller.echo()
