"""Listens at a port, and is to each client what the path of its request says.

Each row of the log is one JSON object: `at`, in nanoseconds of CLOCK_MONOTONIC, the `shape`, and what happened, `did`:
`asked`, with the `head` and `path` of the request, or `left`, when the connection ended.

A path has one WebSocket: a client that asks for another gets no answer, so that what it said of the first one stands.
"""

import argparse
import asyncio
import json
import os
import time
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from pathlib import Path

from tests.hosts.bad_web.answers import ANSWERS
from tests.hosts.bad_web.caller import Caller, Shape, be_good
from tests.hosts.bad_web.messages import MESSAGES
from tests.hosts.bad_web.upgrades import UPGRADES
from tests.hosts.websocket import GOING, Request, read_request

AT_WEBSOCKETS: dict[str, Shape] = {"good": be_good, "stolen": be_good} | UPGRADES | MESSAGES
"""Shapes that answer all other requests well."""


class Server:
    """All shapes, and their log."""

    def __init__(self, log: Path) -> None:
        self.taken = set[str]()
        """The paths that have had their WebSocket."""
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def note(self, shape: str, did: str, **more: object) -> None:
        row = {"at": time.monotonic_ns(), "shape": shape, "did": did, **more}
        os.write(self.log, json.dumps(row).encode() + b"\n")

    async def attend(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer the requests of a connection, one after another."""
        shape = ""
        with suppress(*GOING, asyncio.LimitOverrunError, ValueError):
            while not writer.is_closing():
                request = await read_request(reader)
                await reader.readexactly(int(request.headers.get("content-length", "0")))
                shape = shape_of(request)
                head = f"{request.method} {request.path} {dict(request.headers)}"
                self.note(shape, "asked", path=request.path, head=head)
                await self.answer(shape, Caller(reader, writer, request))
        self.note(shape, "left")
        writer.close()

    async def answer(self, shape: str, caller: Caller) -> None:
        """Answer a request. After a WebSocket the connection ends."""
        if shape in ANSWERS:
            await ANSWERS[shape](caller)
        elif not caller.request.upgrades:
            await caller.answer_well()
        else:
            is_first = caller.request.path not in self.taken
            self.taken.add(caller.request.path)
            await (AT_WEBSOCKETS[shape](caller) if is_first else caller.ignore())
            caller.hang_up()


def shape_of(request: Request) -> str:
    """The last part of its path that is the name of a shape: where the client was sent last."""
    names = [name for name in request.path.partition("?")[0].split("/") if name in ANSWERS or name in AT_WEBSOCKETS]
    return names[-1] if names else "good"


async def serve(port: int, log: Path) -> None:
    server = await asyncio.start_server(Server(log).attend, "127.0.0.1", port, backlog=500)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--log", type=Path, required=True)
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.port, arguments.log))


if __name__ == "__main__":
    main()
