"""Processes of a test: who was started by whom, what they run, and their end."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have; deepest first."""
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
    """Its arguments, each with a zero byte behind it; nothing once it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def end(pids: Iterable[int]) -> None:
    """Kill what is still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
