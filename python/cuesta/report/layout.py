"""Lays rows out in columns of text. A cell that is too wide moves the cells after it and overwrites none."""

from collections.abc import Iterable


def in_columns(label: str, width: int, cells: Iterable[str], widths: Iterable[int]) -> str:
    """Lay out a row: the label to the left in `width`, then each cell at the right end of its own width."""
    row, end = label.ljust(width), width
    for cell, own in zip(cells, widths, strict=False):
        end += own
        row += cell.rjust(max(end - len(row), len(cell) + bool(cell and row)))
    return row
