"""A host that passes everything on between its line and a program on a terminal of its own, and logs each piece.

What the program says may be passed on a while late.
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


def pass_on(host: Behaviour, terminal: int, late: float) -> None:
    """Pass on what comes on either side, until one of them ends."""
    waiting: deque[tuple[float, bytes]] = deque()
    while True:
        pause = max(waiting[0][0] - time.monotonic(), 0) if waiting else None
        ready, _, _ = select.select([0, terminal], [], [], pause)
        while waiting and waiting[0][0] <= time.monotonic():
            host.write(waiting.popleft()[1])
        if 0 in ready:
            typed = os.read(0, 4096)
            if not typed:
                return
            host.note("read", typed)
            os.write(terminal, typed)
        if terminal in ready:
            waiting.append((time.monotonic() + late, os.read(terminal, 65536)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--late", type=float, default=0)
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    size = fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8))
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, size)
        os.execvp(arguments.program[0], arguments.program)
    with suppress(OSError):  # one side has ended
        pass_on(Behaviour(arguments.log), terminal, arguments.late)
    os.close(terminal)
