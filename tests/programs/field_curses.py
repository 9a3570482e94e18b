"""A field for a row in curses: each row is answered below it."""

import curses


def main(screen: "curses.window") -> None:
    """Read keys, and draw with each what has changed."""
    row, answers = "", 0
    while True:
        screen.move(0, 0)
        screen.clrtoeol()
        screen.addstr(0, 0, f"> {row}")
        screen.addstr(2, 0, f"answer {answers} $")
        screen.move(0, 2 + len(row))
        screen.refresh()
        key = screen.get_wch()
        if key == "\n":
            row, answers = "", answers + 1
        elif isinstance(key, str) and key.isprintable():
            row += key


if __name__ == "__main__":
    curses.wrapper(main)
