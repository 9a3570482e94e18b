"""Rows and columns as text."""


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
    """A duration with three digits; one that was not told is said to be so."""
    if seconds is None:
        return "not told"
    for unit, length in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def size(bytes_: float) -> str:
    return f"{bytes_ / 1024:,.0f} KiB" if bytes_ >= 10240 else f"{bytes_ / 1024:.1f} KiB"
