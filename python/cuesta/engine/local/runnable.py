"""Samples how many of a benchmark's tasks are runnable, or wait for a device, while it runs.

Idle CPUs do not show whether a benchmark sleeps: while neighbours fill them there is no idle time. So the states of
its tasks are sampled; those that neither run, could run, nor wait for a device are asleep.
"""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cuesta import _native
from cuesta.private_files import write_private

FILE = "wanting.jsonl"
EVERY = 0.1
"""Seconds between two samples: one takes some milliseconds."""
WANTING = "RD"
"""States of tasks that run or could run, or that a device keeps (proc_pid_stat(5))."""


class RunnableTasks:
    """Samples tasks at intervals. A row for each sample: the instant, the numbers of tasks and of runnable ones."""

    def __init__(self, root: int, every: float, proc: Path = Path("/proc")) -> None:
        self.root = root
        self.every = every
        self.proc = proc
        self.rows: list[str] = []
        self.ending = threading.Event()

    def look(self) -> None:
        """Sample the programs that the children of `root` (host, agents, meters) have started."""
        at = _native.now()
        children = self.children(self.root)
        states = [state for child in children for program in self.children(child) for state in self.states(program)]
        wanting = sum(state in WANTING for state in states)
        self.rows.append(json.dumps({"at": at, "tasks": len(states), "wanting": wanting}))

    def states(self, process: int) -> Iterator[str]:
        for task in self.tasks(process):
            with suppress(OSError, IndexError):
                yield (task / "stat").read_text().rpartition(") ")[2][0]
        for child in self.children(process):
            yield from self.states(child)

    def children(self, process: int) -> list[int]:
        """The processes that a process has started; none if it has ended."""
        found = list[int]()
        for task in self.tasks(process):
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
        return found

    def tasks(self, process: int) -> list[Path]:
        try:
            return list((self.proc / str(process) / "task").iterdir())
        except OSError:
            return []

    def keep_looking(self) -> None:
        """Sample until the end is set."""
        self.look()
        while not self.ending.wait(self.every):
            self.look()


@contextmanager
def count_runnable(folder: Path, every: float = EVERY) -> Iterator[None]:
    """Sample while the block runs, then write the rows into a folder, which exists when the block ends."""
    looks = RunnableTasks(os.getpid(), every)
    looking = threading.Thread(target=looks.keep_looking, daemon=True)
    looking.start()
    try:
        yield
    finally:
        looks.ending.set()
        looking.join()
        if folder.is_dir():
            with suppress(OSError):  # the recorder reports a full disk
                write_private(folder / FILE, "\n".join(looks.rows) + "\n")
