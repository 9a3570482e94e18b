"""Files and folders of their owner alone: records and recordings tell of hosts, of users and of what people see."""

import os
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from cuesta.json_text import json_file_text, json_text


def private(path: str, flags: int) -> int:
    """An opener for `open`: a file that does not exist yet gets the mode 0600."""
    return os.open(path, flags, 0o600)


def make_private(folder: Path) -> None:
    """Make a folder, with its parents; an empty one that exists gets the same permissions."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        folder.chmod(0o700)


class RecordFile:
    """A file of records, a row of JSON each. Several threads may write.

    A full disk loses rows without an error here: the recorder reports it.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._lock = threading.Lock()

    def write(self, row: Mapping[str, object]) -> None:
        self.write_text(json_text(row) + "\n")

    def write_text(self, rows: str) -> None:
        """Write rows that are JSON already, each with its newline."""
        with self._lock, suppress(OSError, ValueError):
            self._file.write(rows)
            self._file.flush()


@contextmanager
def record_file(path: Path, mode: str) -> Iterator[RecordFile]:
    """Open a file of records for the block."""
    file = open(path, mode, encoding="utf-8", opener=private)  # noqa: SIM115
    try:
        yield RecordFile(file)
    finally:
        with suppress(OSError):
            file.close()


def replace_private(path: Path, content: str | bytes) -> None:
    """Write a file atomically; nothing is left of one that cannot be written."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write_private(part, content)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def replace_json(path: Path, value: object) -> None:
    """Write a file of JSON atomically."""
    replace_private(path, json_file_text(value))


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file; only its owner may read it, even if others could before."""
    with open(path, "wb", opener=private) as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            os.fchmod(file.fileno(), 0o600)
        file.write(content.encode() if isinstance(content, str) else content)
