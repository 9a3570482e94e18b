"""A simulated person, who types at a program on a pseudo-terminal and reads its screen."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from tests.processes import descendants, end

KEY_GAP = 0.02
"""Seconds between keys that are not echoed."""
PATIENCE = 120.0
"""Seconds after which a wait fails: a limit against hanging only."""
ONE_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1b.|.", re.DOTALL)
"""What a key sends, at once: a character, a character with Alt, or an escape sequence."""
REACTION = 1.0
"""Most seconds that a person waits to see what a key does; some do nothing that can be seen."""

CUESTA = (sys.executable, "-m", "cuesta")
RUNNING: "list[Person]" = []
"""Persons whose program has not been seen to end."""


def end_all() -> None:
    """Kill the programs of a test that failed before they ended."""
    while RUNNING:
        person = RUNNING[0]
        end([*descendants(person.process), person.process])
        person.leave()


class Person:
    """Runs `cuesta ARGUMENTS`, or another program, on a terminal of 100 columns and 30 rows."""

    def __init__(self, here: Path, *arguments: str, program: Sequence[str] = CUESTA) -> None:
        self.seen = b""
        self.key_gap = KEY_GAP
        self._looked_at = 0
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(here)
            os.environ["TERM"] = "xterm"
            os.execvp(program[0], [*program, *arguments])
        RUNNING.append(self)
        self.wants_window(100, 30)

    def wants_window(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def sees(self, text: str) -> None:
        """Wait for a text in the output after the last match."""
        self.sees_one_of(text)

    def sees_one_of(self, *texts: str) -> str:
        """Wait for one of several texts; returns which one arrived."""
        deadline = time.monotonic() + PATIENCE
        while True:
            places = {text: self.seen.find(text.encode(), self._looked_at) for text in texts}
            if present := [text for text in texts if places[text] >= 0]:
                first = min(present, key=lambda text: places[text])
                self._looked_at = places[first] + len(first.encode())
                return first
            assert self._read(deadline), f"{texts} never came, only {self.seen[self._looked_at :]!r}"

    def types(self, text: str, shown: bool = True) -> None:
        """Type key by key, as people do; each key waits for its echo, or for a pause if it is not echoed."""
        for key in ONE_KEY.findall(text):
            os.write(self.terminal, key.encode())
            if shown and key.isprintable():
                self.sees(key)
            elif not shown:
                self.rests(self.key_gap)

    def commands(self, keys: str) -> None:
        """Type keys that do something, such as those of an editor: see what each does before the next."""
        for key in ONE_KEY.findall(keys):
            os.write(self.terminal, key.encode())
            if select.select([self.terminal], [], [], REACTION)[0]:
                self.rests(self.key_gap)

    def rests(self, quiet: float = 0.2) -> None:
        """Wait until there has been no output for some seconds."""
        while select.select([self.terminal], [], [], quiet)[0] and self._read(time.monotonic() + quiet):
            pass

    def leaves(self) -> None:
        """End the recording after the keys before it have reached the host."""
        self.rests()
        os.write(self.terminal, b"\x1d\x1d\x1d")

    def is_raw(self) -> bool:
        """Whether the terminal is in raw mode."""
        return not termios.tcgetattr(self.terminal)[3] & (termios.ICANON | termios.ECHO)

    def sees_the_end(self) -> int:
        """Wait until the program ends; returns its exit code, or minus the signal's number."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        return os.waitstatus_to_exitcode(self.leave())

    def leave(self) -> int:
        """Wait for the program, which has ended, and close the terminal; returns its status."""
        RUNNING.remove(self)
        os.close(self.terminal)
        return os.waitpid(self.process, 0)[1]

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self.terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing came in {PATIENCE} s, after {self.seen!r}"
        try:
            read = os.read(self.terminal, 65536)
        except OSError:  # no process has the terminal open any more
            return False
        self.seen += read
        return bool(read)
