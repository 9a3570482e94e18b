"""Judges by a terminal emulator of its own when a program has shown each key, and answered each row.

It reads what `tests.hosts.passes_on` has logged. A key is shown by the first piece of output, or the first frame if the
program marks frames, behind which the row up to this key stands before the cursor or the program's own caret.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyte

from tests.hosts.log import Log

MARKED_FRAMES = 2026
SIZE = (80, 24)
LIGHT = "dadada"
"""The ground of Textual's caret."""


class Screen(pyte.Screen):
    """A screen that knows whether a marked frame is being drawn."""

    in_frame = False

    def set_mode(self, *modes: int, **kind: bool) -> None:
        """Set modes; one of them begins a frame."""
        self.in_frame |= MARKED_FRAMES in modes
        super().set_mode(*modes, **kind)

    def reset_mode(self, *modes: int, **kind: bool) -> None:
        """Reset modes; one of them ends a frame."""
        self.in_frame &= MARKED_FRAMES not in modes
        super().reset_mode(*modes, **kind)

    def select_graphic_rendition(self, *attributes: int, private: bool = False) -> None:
        """Set the style; the private form is about keyboards, which pyte does not know."""
        if not private:
            super().select_graphic_rendition(*attributes)

    def before(self, column: int, row: int) -> str:
        """The text before a position, with the rows above it."""
        return "".join(self.display[:row]) + self.display[row][:column]


Ends = Callable[[Screen], Iterator[str]]
"""The texts on a screen at whose ends the typed row may stand."""
Answered = Callable[[Screen, int], bool]
"""Whether a screen shows the answer to a row, which is counted from 1."""


def at_cursor(screen: Screen) -> Iterator[str]:
    """What stands before the cursor."""
    yield screen.before(screen.cursor.x, screen.cursor.y)


def at_caret(screen: Screen) -> Iterator[str]:
    """What stands before a cell in inverse, or on a light ground: the program's own caret."""
    for row in range(screen.lines):
        cells = screen.buffer[row]
        for column in range(1, screen.columns):
            if cells[column].reverse or cells[column].bg == LIGHT:
                yield screen.before(column, row)


def prompts(prompt: str) -> Answered:
    """A row is answered when the cursor stands behind a prompt."""
    return lambda screen, _: screen.display[screen.cursor.y][: screen.cursor.x] == prompt


def numbers_answers(screen: Screen, row: int) -> bool:
    """A row is answered when the program shows its number."""
    return any(f"answer {row} " in shown for shown in screen.display)


class Typist:
    """One user: the typed row, and what became of it on the screen. Durations are in seconds."""

    def __init__(self, ends: Ends, answered: Answered | None) -> None:
        self.screen = Screen(*SIZE)
        self.echoes: list[float] = []
        self.answers: list[float] = []
        self.missed = 0
        self.continued = 0
        """Answers behind which a later piece changed the screen, before the next key."""
        self._stream = pyte.ByteStream(self.screen)
        self._ends, self._answered = ends, answered
        self._row, self._at = "", 0
        self._waiting: list[tuple[int, str]] = []
        self._rows, self._returned = 0, 0
        self._answer: list[str] | None = None

    @property
    def waiting(self) -> list[int]:
        """When the keys came that are not shown yet."""
        return [at for at, _ in self._waiting]

    def sees(self, row: dict[str, Any]) -> None:
        """Take the next row of the log."""
        data = row["bytes"].encode("latin-1")
        if row["did"] == "wrote":
            self._stream.feed(data)
            if not self.screen.in_frame:
                self._looks(row["since"])
        else:
            for key in re.findall(rb"\x1b[\[O][ -?]*[@-~]|\x1b[\]P].*?(?:\x1b\\|\x07)|.", data, re.DOTALL):
                self._types(key.decode("latin-1"), row["at"])

    def _types(self, key: str, at: int) -> None:
        self._answer = None
        before, behind = self._row[: self._at], self._row[self._at :]
        if key == "\r":
            self._row, self._at = "", 0
            self._rows, self._returned = self._rows + 1, at
        elif key == "\t":  # what the program makes of the row is not known
            self._row, self._at = "", 0
        elif key == "\x7f":
            self._row, self._at = before[:-1] + behind, max(self._at - 1, 0)
        elif key in {"\x1b[D", "\x1bOD"}:
            self._at = max(self._at - 1, 0)
        elif key in {"\x1b[C", "\x1bOC"}:
            self._at = min(self._at + 1, len(self._row))
        elif key.isprintable():
            self._row, self._at = before + key + behind, self._at + 1
            self._waiting.append((at, before + key))

    def _looks(self, now: int) -> None:
        if self._answer and self._answer != self.screen.display:
            self.continued += 1
            self._answer = None
        texts = list(self._ends(self.screen))
        shown = [index for index, (_, row) in enumerate(self._waiting) if any(text.endswith(row) for text in texts)]
        if shown:
            self.echoes += [(now - at) / 1e9 for at, _ in self._waiting[: shown[-1] + 1]]
            del self._waiting[: shown[-1] + 1]
        if self._returned and self._answered and self._answered(self.screen, self._rows):
            self.answers.append((now - self._returned) / 1e9)
            self._returned = 0
            self._answer = self.screen.display
            self.missed += len(self._waiting)
            self._waiting.clear()


def judge(log: Path, ends: Ends, answered: Answered | None) -> list[Typist]:
    """What became of the keys of each user of a log."""
    users = Log.read(log).by_connection("read", "wrote")
    typists = [Typist(ends, answered) for _ in users]
    for typist, rows in zip(typists, users, strict=True):
        for row in rows:
            typist.sees(row)
    return typists
