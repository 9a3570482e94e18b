"""Starts, finds, inspects and kills the processes of a test."""

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
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


def in_the_first_pid_namespace() -> bool:
    """Whether this is no container: to others the kernel does not tell of births and ends of processes."""
    return command_name(2) == "kthreadd"


def command_name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


@contextmanager
def program(arguments: list[str], says: str = "") -> Iterator[None]:
    """Run a program until the end of the block, then kill it and its descendants. It is ready when it prints `says`."""
    with subprocess.Popen(arguments, stderr=subprocess.PIPE if says else None, text=True) as running:
        try:
            if running.stderr:
                assert any(says in row for row in running.stderr), f"{arguments} never said {says!r}"
            yield
        finally:
            end([*descendants(running.pid), running.pid])
