"""Readings at intervals during a run, of what its records do not have: a row of JSON for each."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cuesta import _native
from cuesta.private_files import write_private
from cuesta.records.reading import to_row


@contextmanager
def record_readings(file: Path, every: float, read: Callable[[int], Any]) -> Iterator[None]:
    """Take a reading at the start of the block, at its end, and every `every` seconds between; then write the file.

    `read` makes the row (`records.rows`) of an instant of the monotonic clock, in ns.
    The block makes the file's folder; if it does not, nothing is written.
    """
    rows, ending = list[str](), threading.Event()

    def take() -> None:
        rows.append(json.dumps(to_row(read(_native.now()))))

    def keep_taking() -> None:
        while not ending.wait(every):
            take()
        take()

    take()
    thread = threading.Thread(target=keep_taking, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()
        if file.parent.is_dir():
            with suppress(OSError):  # the recorder reports a full disk
                write_private(file, "\n".join(rows) + "\n")
