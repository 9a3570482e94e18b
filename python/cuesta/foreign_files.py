"""Reads files that others wrote, up to a limit: a file without an end is refused."""

import errno
import os
import stat
from pathlib import Path

LONGEST_TEXT = 16 << 20
"""Bytes of a plan, a tape or a typed table."""


class TooLongError(ValueError):
    """A file has more bytes than are read."""


def read_bytes(path: Path, longest: int) -> bytes:
    """Read a whole file. Raises OSError, and TooLongError if it has more than `longest` bytes.

    A named pipe is refused, because nobody may write to it; one that a shell has opened (`/dev/fd/63`) is read.
    """
    try:
        if stat.S_ISFIFO(path.stat().st_mode) and path.parent.resolve() != Path(f"/proc/{os.getpid()}/fd"):
            raise OSError(errno.EINVAL, "it is a named pipe")
        with path.open("rb") as file:
            content = file.read(longest + 1)
    except ValueError:  # its name has a NUL
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT)) from None
    if len(content) > longest:
        raise TooLongError(f"it is over {longest >> 20} MiB")
    return content


def read_text(path: Path) -> str:
    """Read a text. Raises OSError, TooLongError, and UnicodeDecodeError if it is not UTF-8."""
    return read_bytes(path, LONGEST_TEXT).decode("utf-8")
