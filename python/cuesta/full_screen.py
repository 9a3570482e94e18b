"""A program that has all of a terminal for a while, and gives it back as it was, also if it is killed.

A shell waits beside the program until the program closes a pipe or is gone, and then restores the terminal: whatever
ends the program, the terminal echoes again what is typed.
"""

import os
import subprocess
import termios
from typing import TextIO

ENTER = b"\x1b[?1049h\x1b[?25l\x1b[2J"
"""The alternate screen, without a cursor, cleared (xterm's control sequences)."""
LEAVE = r"\033[m\033[?25h\033[?1049l"
"""Back: as `printf` writes it."""
RESTORE = f"""exec 3<&1; cat >/dev/null; [ "$(stty -g <&3)" != "$1" ] || stty "$0" <&3; printf '{LEAVE}'"""
"""Settings that somebody else has changed since, as the shell of a program that was killed, are left alone."""

Settings = list[int | list[bytes | int]]


class FullScreen:
    """A terminal, an open file, until `leave`: keys come one by one and are not shown; Ctrl-C interrupts."""

    def __init__(self, terminal: int) -> None:
        """Take it. Raises OSError or termios.error if it is no terminal, or gone."""
        self._terminal = terminal
        before, saved = termios.tcgetattr(terminal), read_settings(terminal)
        self._own = _by_key(before)
        termios.tcsetattr(terminal, termios.TCSADRAIN, self._own)
        reading, writing = os.pipe()
        self._pipe: int | None = writing
        self._keeper = subprocess.Popen(
            ["sh", "-c", RESTORE, saved, read_settings(terminal)],
            stdin=reading,
            stdout=terminal,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the program
        )
        os.close(reading)
        os.write(terminal, ENTER)

    def leave(self) -> None:
        """Give it back. On any thread, once or more often, also in the handler of a signal."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            os.close(pipe)
            self._keeper.wait()

    def is_in_foreground(self) -> bool:
        """Whether the program may write: a shell has not sent it to the background, nor given the terminal back."""
        return self._pipe is not None and is_in_foreground(self._terminal)

    def take_again(self) -> bool:
        """Take it again if a shell has had it meanwhile, as after `fg`; returns whether that was so."""
        if termios.tcgetattr(self._terminal)[3] == self._own[3]:
            return False
        termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._own)
        os.write(self._terminal, ENTER)
        return True


def is_in_foreground(terminal: TextIO | int) -> bool:
    """Whether this program is what a terminal's shell shows, or there is no shell that could tell."""
    try:
        return os.tcgetpgrp(terminal if isinstance(terminal, int) else terminal.fileno()) == os.getpgrp()
    except OSError:
        return True  # it is not the controlling terminal: writing there never stops a process


def read_settings(terminal: int) -> str:
    """A terminal's settings, as `stty` reads them."""
    command = ["stty", "-g"]
    return subprocess.run(command, stdin=terminal, capture_output=True, text=True, check=True).stdout.strip()


def _by_key(settings: Settings) -> Settings:
    """The same settings, but that keys come one by one, are not shown, and none suspends the program or its output."""
    incoming, outgoing, control, local, speed_in, speed_out, characters = settings
    assert isinstance(incoming, int)
    assert isinstance(local, int)
    assert isinstance(characters, list)
    own = list(characters)
    own[termios.VMIN], own[termios.VTIME], own[termios.VSUSP] = 1, 0, b"\0"
    return [
        incoming & ~termios.IXON,
        outgoing,
        control,
        local & ~(termios.ICANON | termios.ECHO),
        speed_in,
        speed_out,
        own,
    ]
