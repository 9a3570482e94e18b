"""Further readings during a run, which a job asks for by name."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cuesta.engine.job import FurtherReading
from cuesta.engine.local.kernel_threads import record_kernel_threads
from cuesta.engine.local.linkage import record_linkage
from cuesta.engine.local.runnable import count_runnable

EVERY = 0.25
"""Seconds between two readings, but for those of runnable tasks."""


@contextmanager
def take_readings(names: Collection[FurtherReading], folder: Path) -> Iterator[Mapping[str, str]]:
    """Take readings during the block and write them into the folder at its end.

    Yields the environment in which the driver must start its programs.
    """
    with ExitStack() as stack:
        if "kernel threads" in names:
            stack.enter_context(record_kernel_threads(folder, EVERY))
        if "runnable tasks" in names:
            stack.enter_context(count_runnable(folder))
        yield stack.enter_context(record_linkage(folder, EVERY)) if "linkage" in names else {}
