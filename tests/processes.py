"""Finds, inspects and kills the processes that a test started."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """The descendants of a process, the deepest first."""
    try:
        own = [
            int(each)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for each in (task / "children").read_text().split()
        ]
    except OSError:
        return []
    return [*(each for child in own for each in descendants(child)), *own]


def command_of(pid: int) -> bytes:
    """Its arguments, each followed by a zero byte; empty if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def end(pids: Iterable[int]) -> None:
    """Kill those processes that still run."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
