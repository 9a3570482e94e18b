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

    A named pipe is refused, because nobody may write to it; one that a shell has opened (`/dev/fd/63`) is read. All
    other files are opened without blocking: `/proc/kmsg`, for example, gives only what it holds now.
    """
    try:
        if path.parent.resolve() == Path(f"/proc/{os.getpid()}/fd"):
            content = _read(path, longest)
        elif stat.S_ISFIFO(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it is a named pipe")
        else:
            content = _read(path, longest, os.O_NONBLOCK)
    except ValueError:  # its name has a NUL
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT)) from None
    if len(content) > longest:
        raise TooLongError(f"it is over {longest >> 20} MiB")
    return content


def read_text(path: Path) -> str:
    """Read a text. Raises OSError, TooLongError, and UnicodeDecodeError if it is not UTF-8."""
    return read_bytes(path, LONGEST_TEXT).decode("utf-8")


def _read(path: Path, longest: int, flags: int = 0) -> bytes:
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:  # Path.open takes no opener
        content = file.read(longest + 1)
    if content is None:
        raise OSError(errno.EAGAIN, "nothing can be read from it now")
    return content
