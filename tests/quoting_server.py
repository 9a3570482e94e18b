"""A web-terminal server that quotes what its clients sent, in every place where a server can say something."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread

from tests.hosts.websocket import GOING, Opcode, Request, close, frame, read_frame, read_request, read_typed, upgrade

PROMPT = b"$ "


@dataclass
class QuotingServer:
    """Speaks ttyd at a path that ends in `/ws`, else bare characters. Its first `good` sessions work."""

    quotes: str
    """What it says: all that its clients sent, in one row."""
    way: str
    """Where it says that: `output` of a session that works, a redirect of the `page` asked for first; the `text`,
    `json` or `redirect` that refuses a session; the reason of a `close` in place of a session, or `later`, after a key.
    """
    good: int = 0
    port: int = 0

    async def attend(self, reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(*GOING):
            request = await read_request(reader)
            if request.upgrades:
                await self.open(request, reader, writer)
            elif self.way == "page" and self.good <= 0:
                writer.write(answer("302 Found", "", f"Location: https://elsewhere.invalid/?{self.quotes}"))
            else:
                writer.write(answer("200 OK", '{"token": ""}', "Content-Type: application/json"))
            await writer.drain()
        writer.close()

    async def open(self, request: Request, reader: StreamReader, writer: StreamWriter) -> None:
        self.good -= 1
        refusals = {
            "text": answer("403 Forbidden", self.quotes, "Content-Type: text/plain"),
            "json": answer("404 Not Found", json.dumps({"message": self.quotes}), "Content-Type: application/json"),
            "redirect": answer("302 Found", "", f"Location: /login?next={self.quotes}"),
            "close": upgrade(request) + close(1008, self.quotes.encode()[:120]),
        }
        if self.good < 0 and self.way in refusals:
            writer.write(refusals[self.way])
        else:
            await self.work(request, reader, writer)

    async def work(self, request: Request, reader: StreamReader, writer: StreamWriter) -> None:
        """Be a terminal that echoes, until a key closes it or its client goes."""
        first = b"0" if request.path.partition("?")[0].endswith("/ws") else b""
        writer.write(upgrade(request))
        if first:
            await read_frame(reader)
        said = self.quotes.encode() + b"\r\n" if self.way == "output" else b""
        writer.write(frame(Opcode.BINARY, first + said + PROMPT))
        while typed := await read_typed(reader, writer):
            if self.way == "later":
                writer.write(close(1011, self.quotes.encode()[:120]))
                return
            writer.write(frame(Opcode.BINARY, first + typed.removeprefix(first).replace(b"\r", b"\r\n$ ")))


def answer(status: str, body: str, *headers: str) -> bytes:
    rows = [f"HTTP/1.1 {status}", f"Content-Length: {len(body.encode())}", *headers, "", body]
    return "\r\n".join(rows).encode()


@contextmanager
def quoting(quotes: str, way: str, good: int = 0) -> Iterator[QuotingServer]:
    """Start it on loopback."""
    quoter, loop = QuotingServer(quotes, way, good), asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(quoter.attend, "127.0.0.1", 0))
    quoter.port = server.sockets[0].getsockname()[1]
    thread = Thread(target=loop.run_forever)
    thread.start()
    yield quoter
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    server.close()
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
