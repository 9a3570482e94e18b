"""jot: a small program to write notes in. It counts words while you type; Ctrl+D ends it."""

import curses
import sys
from pathlib import Path

BACKSPACE = {"\b", "\x7f", chr(curses.KEY_BACKSPACE)}
CTRL_D = "\x04"


def count_words(text: str) -> int:
    return len(text.split())


def draw(screen: curses.window, text: str, cursor: int) -> None:
    height, width = screen.getmaxyx()
    rows = text.split("\n")[-(height - 1) :]
    screen.erase()
    screen.addnstr(0, 0, f"jot: {count_words(text)} words", width - 1, curses.A_REVERSE)
    for number, row in enumerate(rows, 1):
        screen.addnstr(number, 0, row[-cursor:], width - 1)
    screen.refresh()


def main(screen: curses.window, text: str) -> None:
    while True:
        draw(screen, text, screen.getmaxyx()[1] - 1)
        key = screen.get_wch()
        if key == CTRL_D:
            return
        if key in BACKSPACE or key == curses.KEY_BACKSPACE:
            text = text[:-1]
        elif isinstance(key, str) and (key.isprintable() or key == "\n"):
            text += key


if __name__ == "__main__":
    start = Path(sys.argv[1]).read_text(encoding="utf-8") if len(sys.argv) > 1 else ""
    curses.wrapper(main, start)
