"""A TCP host that serves one request after another, and gives out when more than a number of lines are open.

    python -m tests.hosts.gives_out --log FILE --port PORT --above LINES --how refuse|reset|freeze|memory

- refuse: it takes no more lines: the port is closed until one leaves.
- reset: it resets all lines, and takes new ones.
- freeze: it answers nothing for LONG seconds, and then everything.
- memory: each line has a process with memory of its own; all of them have room for the number of lines, in a control
  group, and the kernel kills one when there is no more.

Unlike the other hosts of this folder it is one program for all lines. Each row of the log is one JSON object: `at`, in
nanoseconds of CLOCK_MONOTONIC, what it `did`, and the number of open `lines`.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SERVICE = 0.01
"""Seconds that a request takes."""
ANSWER = b"DONE\r\n"
LONG = 45.0
EACH = 24 << 20
"""Bytes of memory that the process of a line takes."""
GROUPS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
"""Control groups of memory: version 1, version 2."""


class Host:
    """All lines, and what becomes of them."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.above: int = arguments.above
        self.port: int = arguments.port
        self.log = arguments.log.open("a", encoding="utf-8")
        self.writers: set[asyncio.StreamWriter] = set()
        self.server: asyncio.Server | None = None
        self.serving = asyncio.Lock()
        self.frozen_until = 0.0
        self.give_out: Callable[[], None] = getattr(self, arguments.how)

    def note(self, did: str) -> None:
        row = {"at": time.monotonic_ns(), "did": did, "lines": len(self.writers)}
        self.log.write(json.dumps(row) + "\n")
        self.log.flush()

    async def listen(self) -> None:
        self.server = await asyncio.start_server(self.attend, "127.0.0.1", self.port, backlog=500)
        self.note("listens")

    async def attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.add(writer)
        self.note("opened")
        if len(self.writers) > self.above:
            self.give_out()
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r")
                await self.serve(writer)
        self.writers.discard(writer)
        self.note("closed")
        if self.server is None:
            await self.listen()

    async def serve(self, writer: asyncio.StreamWriter) -> None:
        async with self.serving:
            await asyncio.sleep(max(self.frozen_until - time.monotonic(), SERVICE))
        writer.write(ANSWER)
        await writer.drain()

    def refuse(self) -> None:
        if self.server:
            self.server.close()
            self.server = None
            self.note("refuses")

    def reset(self) -> None:
        self.note("resets")
        for writer in self.writers:
            line: socket.socket = writer.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def freeze(self) -> None:
        if time.monotonic() > self.frozen_until:
            self.frozen_until = time.monotonic() + LONG
            self.note("freezes")


async def serve_all(host: Host) -> None:
    await host.listen()
    await asyncio.Event().wait()


def in_memory(arguments: argparse.Namespace) -> None:
    """A process for each line, all in one control group."""
    group = limited_group(f"cuesta-{os.getpid()}", (arguments.above + 1) * EACH)
    listener = socket.create_server(("127.0.0.1", arguments.port), backlog=500)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        line, _ = listener.accept()
        if os.fork() == 0:
            (group / "cgroup.procs").write_text(str(os.getpid()))
            with arguments.log.open("a") as log:
                log.write(json.dumps({"at": time.monotonic_ns(), "did": "opened", "lines": 0}) + "\n")
            serve_one(line)
        line.close()


def serve_one(line: socket.socket) -> None:
    """Take memory, answer until the line ends, and exit."""
    memory = bytearray(EACH)
    memory[:: os.sysconf("SC_PAGE_SIZE")] = b"x" * len(memory[:: os.sysconf("SC_PAGE_SIZE")])
    with suppress(OSError):
        while data := line.recv(4096):
            for _ in range(data.count(b"\r")):
                time.sleep(SERVICE)
                line.sendall(ANSWER)
    os._exit(0)


def limited_group(name: str, most: int) -> Path:
    root = next(each for each in GROUPS if (each / "cgroup.procs").exists())
    group = root / name
    group.mkdir()
    limit = next(each for each in ("memory.max", "memory.limit_in_bytes") if (group / each).exists())
    (group / limit).write_text(str(most))
    return group


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--above", type=int, required=True)
    parser.add_argument("--how", choices=("refuse", "reset", "freeze", "memory"), required=True)
    arguments = parser.parse_args()
    if arguments.how == "memory":
        in_memory(arguments)
    asyncio.run(serve_all(Host(arguments)))


if __name__ == "__main__":
    main()
