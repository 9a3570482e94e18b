"""A field for a row in curses: each row is answered below it. `field_curses.py [LOG SECONDS]`.

With a log it takes keys in batches: behind each frame it waits so long, and then takes all keys that have come. A row
of the log is a frame: when it began, and how many characters typed so far it shows.
"""

import curses
import json
import sys
import time
from pathlib import Path


class Field:
    """The row, its answers, and how many characters were typed."""

    def __init__(self) -> None:
        self.row, self.answers, self.typed = "", 0, 0

    def take(self, key: str | int) -> None:
        """Take a key."""
        if key == "\n":
            self.row, self.answers = "", self.answers + 1
        elif isinstance(key, str) and key.isprintable():
            self.row, self.typed = self.row + key, self.typed + 1

    def draw(self, screen: "curses.window") -> int:
        """Draw what has changed; returns the instant before."""
        screen.move(0, 0)
        screen.clrtoeol()
        screen.addstr(0, 0, f"> {self.row}")
        screen.addstr(2, 0, f"answer {self.answers} $")
        screen.move(0, 2 + len(self.row))
        since = time.monotonic_ns()
        screen.refresh()
        return since


def main(screen: "curses.window") -> None:
    """Read keys, and draw with each what has changed."""
    field = Field()
    while True:
        field.draw(screen)
        field.take(screen.get_wch())


def take_batches(screen: "curses.window", log: Path, seconds: float) -> None:
    """Read keys in batches, and draw with each what has changed."""
    field = Field()
    curses.typeahead(-1)  # otherwise it draws nothing while more is typed
    with log.open("a") as file:
        while True:
            since = field.draw(screen)
            file.write(json.dumps({"since": since, "typed": field.typed}) + "\n")
            file.flush()
            time.sleep(seconds)
            field.take(screen.get_wch())
            screen.nodelay(True)
            try:
                while True:
                    field.take(screen.get_wch())
            except curses.error:  # no more has come
                screen.nodelay(False)


if __name__ == "__main__":
    if arguments := sys.argv[1:]:
        curses.wrapper(take_batches, Path(arguments[0]), float(arguments[1]))
    else:
        curses.wrapper(main)
