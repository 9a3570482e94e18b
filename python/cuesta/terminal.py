"""The door to the terminal: everything that Cuesta prints goes through it, and no control character of others does.

Ruff forbids `print` everywhere else.
"""

import errno
import os
import sys

from cuesta.plain_text import plain, plain_rows

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes as long to load as all that `--version` needs
    from typing import Protocol, TextIO

    class LiveView(Protocol):
        """What has all of the terminal."""

        def tell(self, text: str) -> None:
            """Show a message, and print it at the end."""

        def give_back(self) -> None:
            """Give the terminal back at once: the program ends."""


view: "LiveView | None" = None
"""Set while a view has all of the terminal: what would be printed between its rows goes to it."""

CLEAR_ROW = "\x1b[K"
"""Clears a terminal's row from the cursor on (ECMA-48: EL)."""


class Styled(str):
    """Text with a terminal's styles (escape sequences); all other characters in it are plain already."""

    __slots__ = ()


def show(text: str, end: str = "\n") -> None:
    """Print a result on standard output."""
    write(text, sys.stdout, end)


def inform(text: str, end: str = "\n") -> None:
    """Print a message on standard error, or show it in the view that has the terminal."""
    if view is None:
        write(text, sys.stderr, end)
    else:
        view.tell(text)


def renew_row(text: str) -> None:
    """Print a row on standard error, which must be a terminal; the next text overwrites it."""
    _print(f"{plain(text)}{CLEAR_ROW}", sys.stderr, "\r")


def write(text: str, stream: "TextIO", end: str = "\n") -> None:
    """Print a text on a stream."""
    _print(text if isinstance(text, Styled) else plain_rows(text), stream, end)


def _print(text: str, stream: "TextIO", end: str) -> None:
    try:
        print(text, end=end, file=stream, flush=True)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        # The terminal is gone, as when its window is closed: what is still to be done is done without it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
