"""A TCP host that serves one request after another, and gives out when more than a number of lines are open.

    python -m tests.hosts.gives_out --log FILE --port PORT --above LINES --how refuse|reset|freeze|memory

- refuse: it takes no more lines: the port is closed until one leaves.
- reset: it resets all lines, and takes new ones.
- freeze: it answers nothing until LONG seconds after the number of lines is allowed again, and then everything.
- memory: each line has a process with memory of its own; all of them have room for the number of lines, in a control
  group, and the kernel kills one when there is no more.

Unlike the other hosts of this folder it is one program for all lines. Each row of the log is one JSON object: `at`, in
nanoseconds of CLOCK_MONOTONIC, what it `did`, and the number of open `lines`. That it gave out is a row `refuses`,
`resets`, `freezes` or `killed`; the last has the control group's own count of `oom_kills`.
"""

import argparse
import asyncio
import json
import os
import select
import socket
import struct
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SERVICE = 0.01
"""Seconds that a request takes."""
ANSWER = b"DONE\r\n"
LONG = 121.0
"""Seconds that it takes to recover: minutes, as a host that swaps does."""
EACH = 24 << 20
"""Bytes of memory that the process of a line takes."""
GROUPS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
"""Control groups of memory: version 1, version 2."""
LIMITS = ("memory.limit_in_bytes", "memory.max")
KILLS = ("memory.oom_control", "memory.events")
"""Files with a row `oom_kill N`."""


class Host:
    """All lines, and what becomes of them."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.above: int = arguments.above
        self.port: int = arguments.port
        self.log = arguments.log.open("a", encoding="utf-8")
        self.writers: set[asyncio.StreamWriter] = set()
        self.server: asyncio.Server | None = None
        self.requests = asyncio.Queue[asyncio.StreamWriter]()
        """The lines whose requests wait, a row each."""
        self.thawed = asyncio.Event()
        self.thawed.set()
        self.recovery: asyncio.TimerHandle | None = None
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
                self.requests.put_nowait(writer)
        self.writers.discard(writer)
        writer.close()
        self.note("closed")
        self.recover()
        if self.server is None:
            await self.listen()

    async def serve(self) -> None:
        """Answer one request after another; those whose lines are closed are dropped."""
        while True:
            writer = await self.requests.get()
            await self.thawed.wait()
            if writer in self.writers:
                await asyncio.sleep(SERVICE)
                writer.write(ANSWER)

    def refuse(self) -> None:
        if self.server:
            self.server.close()
            self.server = None
            self.note("refuses")

    def reset(self) -> None:
        self.note("resets")
        while self.writers:
            writer = self.writers.pop()
            line: socket.socket = writer.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def freeze(self) -> None:
        if self.thawed.is_set():
            self.note("freezes")
        self.thawed.clear()
        if self.recovery:
            self.recovery.cancel()
        self.recovery = None

    def recover(self) -> None:
        """Thaw some time after the lines are few enough again."""
        if not self.thawed.is_set() and self.recovery is None and len(self.writers) <= self.above:
            self.recovery = asyncio.get_running_loop().call_later(LONG, self.thaw)

    def thaw(self) -> None:
        self.thawed.set()
        self.recovery = None
        self.note("thaws")


async def serve_all(host: Host) -> None:
    await host.listen()
    await host.serve()


class MemoryHost:
    """A process for each line, all in one control group."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.log = arguments.log.open("a", encoding="utf-8")
        self.group = limited_group((arguments.above + 1) * EACH)
        self.lines: dict[int, int] = {}
        """The processes that serve lines, by the descriptors that tell when they end."""
        self.listener = socket.create_server(("127.0.0.1", arguments.port), backlog=500)
        self.poll = select.poll()
        self.poll.register(self.listener, select.POLLIN)

    def note(self, did: str) -> None:
        row = {"at": time.monotonic_ns(), "did": did, "lines": len(self.lines), "oom_kills": oom_kills(self.group)}
        self.log.write(json.dumps(row) + "\n")
        self.log.flush()

    def serve_all(self) -> None:
        while True:
            for descriptor, _ in self.poll.poll():
                if descriptor in self.lines:
                    self.reap(descriptor)
                else:
                    self.serve(self.listener.accept()[0])

    def serve(self, line: socket.socket) -> None:
        if (process := os.fork()) == 0:
            (self.group / "cgroup.procs").write_text(str(os.getpid()))
            serve_one(line)
        line.close()
        ends = os.pidfd_open(process)
        self.poll.register(ends, select.POLLIN)
        self.lines[ends] = process
        self.note("opened")

    def reap(self, ends: int) -> None:
        """Note that a process has ended, and whether the kernel killed it."""
        _, status = os.waitpid(self.lines.pop(ends), 0)
        self.poll.unregister(ends)
        os.close(ends)
        self.note("killed" if os.WIFSIGNALED(status) else "closed")


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


def limited_group(most: int) -> Path:
    root = next(each for each in GROUPS if (each / "cgroup.procs").exists())
    group = Path(tempfile.mkdtemp(prefix="cuesta-", dir=root))
    present(group, LIMITS).write_text(str(most))
    return group


def oom_kills(group: Path) -> int:
    """How many processes of a control group the kernel has killed because the group had no memory left."""
    counts = dict(row.split() for row in present(group, KILLS).read_text().splitlines())
    return int(counts["oom_kill"])


def present(group: Path, names: tuple[str, ...]) -> Path:
    """The file of a control group: its name differs by version."""
    return next(group / name for name in names if (group / name).exists())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--above", type=int, required=True)
    parser.add_argument("--how", choices=("refuse", "reset", "freeze", "memory"), required=True)
    arguments = parser.parse_args()
    if arguments.how == "memory":
        MemoryHost(arguments).serve_all()
    asyncio.run(serve_all(Host(arguments)))


if __name__ == "__main__":
    main()
