"""Rows, columns and units as text."""

from cuesta import units


def table(head: list[str], rows: list[list[str]]) -> str:
    """Columns as wide as their longest cell; all but the first are aligned at the right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    return "\n".join(line(row, widths) for row in [head, *rows])


def line(row: list[str], widths: list[int]) -> str:
    first, *others = (
        cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def duration(seconds: float | None) -> str:
    return "not told" if seconds is None else units.seconds(seconds)


def size(bytes_: float) -> str:
    return f"{bytes_ / 1024:,.0f} KiB" if bytes_ >= 10240 else f"{bytes_ / 1024:.1f} KiB"
