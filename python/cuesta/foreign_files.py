"""Reads files that others wrote: at most so many bytes, so that one without an end is refused."""

from pathlib import Path

LONGEST_TEXT = 16 << 20
"""Bytes of a plan, a tape or a typed table."""


class TooLongError(ValueError):
    """A file has more bytes than are read."""


def read_bytes(path: Path, longest: int) -> bytes:
    """Read a whole file. Raises OSError, and TooLongError if it has more than `longest` bytes."""
    with path.open("rb") as file:
        content = file.read(longest + 1)
    if len(content) > longest:
        raise TooLongError(f"it is over {longest >> 20} MiB")
    return content


def read_text(path: Path) -> str:
    """Read a text. Raises OSError, TooLongError, and UnicodeDecodeError if it is not UTF-8."""
    return read_bytes(path, LONGEST_TEXT).decode("utf-8")
