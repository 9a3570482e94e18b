"""Pads, cuts and wraps text for a terminal, by cells: 検 takes two, a combining accent none.

The text must have no control characters, which have no width.
"""

import re
from collections.abc import Iterable, Iterator

from rich.cells import cell_len, set_cell_size, split_text

WORD = re.compile(r"([ \t\n]*)((?:[^ \t\n]|(?<=\d) (?=[nµm]?s\b|%|KiB))+)")
"""A word, after the space before it. A number and its unit are one word; a no-break space separates none."""


def align_left(text: str, width: int) -> str:
    """Pad a text to a width with spaces behind it; one that is too wide stays whole."""
    return text + " " * (width - cell_len(text))


def align_right(text: str, width: int) -> str:
    """Pad a text to a width with spaces before it; one that is too wide stays whole."""
    return " " * (width - cell_len(text)) + text


def cut(text: str, most: int) -> str:
    """The beginning of a text, with an ellipsis where it is cut."""
    return text if cell_len(text) <= most else set_cell_size(text, most - 1) + "…"


def cut_start(text: str, most: int) -> str:
    """The end of a text, with an ellipsis where it is cut."""
    return text if cell_len(text) <= most else "…" + split_text(text, cell_len(text) - most + 1)[1]


def wrap_text(text: str, width: int, first: str = "", then: str = "") -> Iterator[str]:
    """Break a text between words into rows that begin with `first` and `then`. A word that is too wide stays whole."""
    row, is_empty = first, True
    for space, word in WORD.findall(text):
        if is_empty or cell_len(row + space + word) <= width:
            row, is_empty = row + space + word, False
        else:
            yield row
            row = then + word
    if not is_empty:
        yield row


def words(text: str) -> list[str]:
    """The parts of a text between which `wrap_text` breaks it."""
    return [word for _, word in WORD.findall(text)]


def in_columns(label: str, width: int, cells: Iterable[str], widths: Iterable[int]) -> str:
    """Lay out a row: the label to the left in `width`, then each cell at the right end of its own width.

    A cell that is too wide moves the cells after it and overwrites none.
    """
    row, end = align_left(label, width), width
    for cell, own in zip(cells, widths, strict=False):
        end += own
        row += align_right(cell, max(end - cell_len(row), cell_len(cell) + bool(cell and row)))
    return row
