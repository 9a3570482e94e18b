"""A program that has all of a terminal for a while, and gives it back as it was, also if it is killed.

A shell waits beside the program until the program closes a pipe or is gone, and then restores the terminal: whatever
ends the program, nobody is left without an echo of what they type.
"""

import os
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager

ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
"""The alternate screen, without a cursor, cleared (xterm's control sequences)."""
LEAVE = r"\033[m\033[?25h\033[?1049l"
"""Back: as `printf` writes it."""
RESTORE = f"""cat >/dev/null; stty "$0" <&1; printf '{LEAVE}'"""


@contextmanager
def full_screen(terminal: int) -> Iterator[None]:
    """Have a terminal, an open file, during the block: keys come one by one and are not shown; Ctrl-C interrupts.

    Raises OSError or termios.error if it is no terminal, or gone.
    """
    before = termios.tcgetattr(terminal)
    saved = subprocess.run(["stty", "-g"], stdin=terminal, capture_output=True, text=True, check=True).stdout.strip()
    keeper = subprocess.Popen(
        ["sh", "-c", RESTORE, saved],
        stdin=subprocess.PIPE,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the program
    )
    assert keeper.stdin
    try:
        termios.tcsetattr(terminal, termios.TCSADRAIN, _by_key(before))
        os.write(terminal, ENTER.encode())
        yield
    finally:
        keeper.stdin.close()
        keeper.wait()


def _by_key(settings: list[int | list[bytes | int]]) -> list[int | list[bytes | int]]:
    """The same settings, but that keys come one by one, are not shown, and none suspends the program."""
    incoming, outgoing, control, local, speed_in, speed_out, characters = settings
    assert isinstance(local, int)
    assert isinstance(characters, list)
    own = list(characters)
    own[termios.VMIN], own[termios.VTIME], own[termios.VSUSP] = 1, 0, b"\0"
    return [incoming, outgoing, control, local & ~(termios.ICANON | termios.ECHO), speed_in, speed_out, own]
