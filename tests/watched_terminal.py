"""A terminal on which a command runs, judged by another terminal emulator: what it shows, and how it is left."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyte

from tests.processes import descendants, end

CUESTA = (sys.executable, "-m", "cuesta")
PATIENCE = 120.0
"""Seconds after which a wait fails: a limit against hanging only."""
ALTERNATE, CURSOR = 1049 << 5, 25 << 5
"""Modes of the emulator: the alternate screen, and a cursor that is shown."""


class WatchedTerminal:
    """A pseudo-terminal, its emulator, and the command that runs on it.

    It stays open when the command has ended, so that its settings can be compared.
    """

    def __init__(
        self, here: Path, size: tuple[int, int], command: Sequence[str], screen: Any = None, **environment: str
    ) -> None:
        columns, rows = size
        self.emulator = screen or pyte.Screen(columns, rows)
        self.written = b""
        self._stream = pyte.ByteStream(self.emulator)
        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings_before = self.settings()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *command],
            cwd=here,
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env={**os.environ, "TERM": "xterm-256color", **environment},
        )

    def settings(self) -> list[Any]:
        """The settings of the terminal, as a program would read them."""
        return termios.tcgetattr(self._slave)

    def takes_back(self) -> None:
        """Do what a shell does with the terminal of a command that was stopped."""
        termios.tcsetattr(self._slave, termios.TCSANOW, self.settings_before)
        self.emulator.reset()

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        self.emulator.resize(rows, columns)
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def types(self, keys: str) -> None:
        """Type keys, all at once."""
        os.write(self._master, keys.encode())

    def shows(self, pattern: str) -> "re.Match[str]":
        """Wait until the rows of the screen match a pattern."""
        found: list[re.Match[str] | None] = [None]

        def look() -> bool:
            found[0] = re.search(pattern, self.text(), re.MULTILINE)
            return found[0] is not None

        self.until(look, pattern)
        assert found[0]
        return found[0]

    def text(self) -> str:
        """The rows of the screen."""
        return "\n".join(row.rstrip() for row in self.emulator.display)

    def until(self, enough: Callable[[], bool], what: str) -> None:
        """Read until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not enough():
            ready, _, _ = select.select([self._master], [], [], max(deadline - time.monotonic(), 0))
            assert ready, f"{what!r} never came: {self.text()}"
            self._read()

    def ends(self) -> int:
        """Wait until the command has ended and the terminal is as it was; returns the exit code."""
        while self.process.poll() is None:
            self._read_for(0.05)
        self.until(self.is_as_before, "the terminal as it was")
        self._read_for(0.0)
        return self.process.returncode

    def is_as_before(self) -> bool:
        """Whether its settings are those before the command, and its screen is the usual one, with a cursor."""
        modes = self.emulator.mode
        return ALTERNATE not in modes and CURSOR in modes and self.settings() == self.settings_before

    def close(self) -> None:
        """Kill what still runs."""
        end([*descendants(self.process.pid), self.process.pid])
        self.process.wait()
        os.close(self._slave)
        os.close(self._master)

    def _read_for(self, seconds: float) -> None:
        while select.select([self._master], [], [], seconds)[0]:
            self._read()

    def _read(self) -> None:
        read = os.read(self._master, 65536)
        self.written += read
        self._stream.feed(read)


@contextmanager
def watched(
    here: Path, size: tuple[int, int], *arguments: str, screen: Any = None, **environment: str
) -> Iterator[WatchedTerminal]:
    """Run `cuesta ARGUMENTS` on a terminal of this many columns and rows during the block; `screen` may judge it."""
    terminal = WatchedTerminal(here, size, [*CUESTA, *arguments], screen, **environment)
    try:
        yield terminal
    finally:
        terminal.close()
