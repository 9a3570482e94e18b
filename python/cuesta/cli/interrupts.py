"""Stops a run, or meters, at Ctrl-C, SIGTERM or SIGHUP."""

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from cuesta import terminal
from cuesta.errors import Exit

STOPPING = b"cuesta: stopping; what was measured is kept (again to end at once)\n"


Handler = Callable[[int, FrameType | None], None]


@contextmanager
def handle_signals(handle: Handler, *more: signal.Signals) -> Iterator[None]:
    """Handle SIGINT, SIGTERM, SIGHUP and `more` during the block."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, *more)
    handlers = [signal.signal(each, handle) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, handlers, strict=True):
            signal.signal(each, handler)


@contextmanager
def catch_interrupts(message: bytes | None = STOPPING) -> Iterator[threading.Event]:
    """The first signal sets the event and writes the message; the second ends this process at once.

    Its children end with their pipes. Without a message the caller ends soon by itself, and a second signal is ignored.
    """
    stopping = threading.Event()
    signals_before = list[int]()

    def handle(number: int, _frame: FrameType | None) -> None:
        if signals_before and message:
            if terminal.view:
                terminal.view.give_back()
            os._exit(Exit.INTERRUPTED)
        signals_before.append(number)
        # Set it in a new thread: the wait that this signal interrupts may hold the event's lock.
        _thread.start_new_thread(stopping.set, ())
        # Not `print`, which is not reentrant: the signal may arrive while progress is printed.
        if message and not terminal.view:  # a view shows that it is stopping
            with suppress(OSError):
                os.write(sys.stderr.fileno(), message)

    with handle_signals(handle):
        yield stopping
