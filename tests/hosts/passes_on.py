"""A host that passes everything on between its line and a program on a terminal of its own, and logs each piece.

What the program says may be passed on a while late, and in pieces. What is typed may be held back now and then.
"""

import argparse
import fcntl
import os
import pty
import select
import termios
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from tests.hosts.behaviour import Behaviour


class Holds:
    """Holds back what is typed for a while, after every n-th read: several keys reach the program at once."""

    def __init__(self, every: int, seconds: float) -> None:
        self._every, self._seconds = every, seconds
        self._reads = 0
        self._held = b""
        self.until: float | None = None
        """When what is held goes on, if anything is held."""

    def take(self, typed: bytes) -> bytes:
        """What of all that was typed goes on now."""
        self._reads += bool(typed)
        if self._every and typed and self._reads % self._every == 0 and self.until is None:
            self.until = time.monotonic() + self._seconds
        self._held += typed
        if self.until is not None and self.until > time.monotonic():
            return b""
        goes_on, self._held, self.until = self._held, b"", None
        return goes_on


def pass_on(host: Behaviour, terminal: int, late: float, pieces: int, holds: Holds) -> None:
    """Pass on what comes on either side, until one of them ends."""
    waiting: deque[tuple[float, bytes]] = deque()
    while True:
        due = [at for at in (waiting[0][0] if waiting else None, holds.until) if at is not None]
        ready, _, _ = select.select([0, terminal], [], [], max(min(due) - time.monotonic(), 0) if due else None)
        while waiting and waiting[0][0] <= time.monotonic():
            write_pieces(host, waiting.popleft()[1], pieces)
        typed = b""
        if 0 in ready:
            typed = os.read(0, 4096)
            if not typed:
                return
            host.note("read", typed)
        os.write(terminal, holds.take(typed))
        if terminal in ready:
            waiting.append((time.monotonic() + late, os.read(terminal, 65536)))


def write_pieces(host: Behaviour, data: bytes, pieces: int) -> None:
    """Write data in several writes, one directly after another."""
    size = -(-len(data) // pieces)
    for begin in range(0, len(data), size):
        host.write(data[begin : begin + size])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--late", type=float, default=0)
    parser.add_argument("--pieces", type=int, default=1)
    parser.add_argument("--hold-every", type=int, default=0)
    parser.add_argument("--hold-for", type=float, default=0)
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    size = fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8))
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, size)
        os.execvp(arguments.program[0], arguments.program)
    with suppress(OSError):  # one side has ended
        holds = Holds(arguments.hold_every, arguments.hold_for)
        pass_on(Behaviour(arguments.log), terminal, arguments.late, arguments.pieces, holds)
    os.close(terminal)
