"""A host that delays each key in a known way between its line and a terminal: what a tracer must find of the key.

It shows a prompt when it is ready, and logs how long each delay took. The terminal echoes.
"""

import argparse
import fcntl
import mmap
import os
import pty
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.hosts.behaviour import PROMPT, Behaviour

Delay = Callable[[float], None]


def wait_for_lock(file: Path, held: float) -> Delay:
    """Want a lock that a neighbour has nearly always, for `held` seconds each time."""
    end, alive = os.pipe()
    if os.fork() == 0:
        os.close(alive)
        while not select.select([end], [], [], 0.001)[0]:  # until the host has ended
            with file.open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                time.sleep(held)
        os._exit(0)

    def delay(_: float) -> None:
        with file.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)

    return delay


def spin(seconds: float) -> None:
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        pass


def wait_for_child(seconds: float) -> None:
    if (child := os.fork()) == 0:
        time.sleep(seconds)
        os._exit(0)
    os.waitpid(child, 0)


def write_through(file: Path) -> Delay:
    """Write to the disk itself, as often as it takes that long."""
    disk = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_DIRECT | os.O_DSYNC, 0o600)
    block = mmap.mmap(-1, 4096)  # at a page's address, as O_DIRECT wants it

    def delay(seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            os.pwrite(disk, block, 0)

    return delay


def relay(host: Behaviour, terminal: int, before: Delay | None, seconds: float, after: Delay, pieces: int) -> None:
    """Pass on what comes on either side, each key after the delay `before`, each echo after the delay `after`."""
    while True:
        ready, _, _ = select.select([0, terminal], [], [])
        if 0 in ready:
            if not (typed := os.read(0, 4096)):
                return
            begin = time.monotonic_ns()
            if before:
                before(seconds)
            host.note("delayed", typed, took=time.monotonic_ns() - begin)
            os.write(terminal, typed)
        if terminal in ready:
            echo = os.read(terminal, 4096)
            after(seconds)
            if pieces > 1:
                os.write(1, b"\0")
            os.write(1, echo)


def wait_in_select(seconds: float) -> None:
    select.select([], [], [], seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("how")
    parser.add_argument("milliseconds", type=float, nargs="?", default=0.0)
    arguments = parser.parse_args()
    how, seconds, folder = arguments.how, arguments.milliseconds / 1000, arguments.log.parent
    host = Behaviour(arguments.log)
    process, terminal = pty.fork()
    if process == 0:
        os.execvp("cat", ["cat"])
    if how == "pieces":
        with socket.socket(fileno=os.dup(0)) as line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
    delays: dict[str, Callable[[], Delay]] = {
        "sleep": lambda: time.sleep,
        "spin": lambda: spin,
        "child": lambda: wait_for_child,
        "lock": lambda: wait_for_lock(folder / f"lock-{process}", seconds),
        "disk": lambda: write_through(folder / f"disk-{process}"),
    }
    before = delays[how]() if how in delays else None
    after = wait_in_select if how == "batch" else lambda _: None
    host.write(PROMPT)
    with suppress(OSError):  # one side has ended
        relay(host, terminal, before, seconds, after, pieces=2 if how == "pieces" else 1)
