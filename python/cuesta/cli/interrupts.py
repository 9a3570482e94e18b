"""Ctrl-C, and its likes from outside."""

import _thread
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from cuesta.errors import Exit


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """The first Ctrl-C, SIGTERM or SIGHUP sets the event; the second ends at once, and closing pipes end the rest."""
    stopping = threading.Event()
    told = list[bool]()

    def handle(_signal: int, _frame: FrameType | None) -> None:
        if told:
            os._exit(Exit.INTERRUPTED)
        told.append(True)
        # In a thread of its own: the event's lock may be held by the very wait that the signal came into.
        _thread.start_new_thread(stopping.set, ())
        # Not by `print`, which may not be entered twice: the signal may have come while progress is printed.
        with suppress(OSError):
            os.write(sys.stderr.fileno(), b"cuesta: stopping; what was measured is kept (again to end at once)\n")

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(each, handle) for each in signals]
    try:
        yield stopping
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)
