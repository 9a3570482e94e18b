"""Samples how many of a benchmark's tasks are runnable, or wait for a device, while it runs.

Idle CPUs do not show whether a benchmark sleeps: while neighbours fill them there is no idle time. So the states of
its tasks are sampled; those that neither run, could run, nor wait for a device are asleep.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

from cuesta.engine.local.recorded_readings import record_readings
from cuesta.records.rows import RunnableRow

FILE = "wanting.jsonl"
EVERY = 0.1
"""Seconds between two samples: one takes some milliseconds."""
WANTING = "RD"
"""States of tasks that run or could run, or that a device keeps (proc_pid_stat(5))."""


@dataclass(frozen=True, slots=True)
class RunnableTasks:
    """The tasks of the programs that the children of `root` (host, agents, meters) have started."""

    root: int
    proc: Path = Path("/proc")

    def read(self, at: int) -> RunnableRow:
        """Count the tasks, and those of them that are runnable; `at` is the instant, in ns."""
        children = self.children(self.root)
        states = [state for child in children for program in self.children(child) for state in self.states(program)]
        return RunnableRow(at=at, tasks=len(states), wanting=sum(state in WANTING for state in states))

    def states(self, process: int) -> Iterator[str]:
        for task in self.tasks(process):
            with suppress(OSError, IndexError):
                yield (task / "stat").read_text().rpartition(") ")[2][0]
        for child in self.children(process):
            yield from self.states(child)

    def children(self, process: int) -> list[int]:
        """The processes that a process has started; none if it has ended."""
        children = list[int]()
        for task in self.tasks(process):
            with suppress(OSError):
                children += map(int, (task / "children").read_text().split())
        return children

    def tasks(self, process: int) -> list[Path]:
        try:
            return list((self.proc / str(process) / "task").iterdir())
        except OSError:
            return []


def count_runnable(folder: Path, every: float = EVERY) -> AbstractContextManager[None]:
    """Sample while the block runs, then write the rows into a folder, which exists when the block ends."""
    return record_readings(folder / FILE, every, RunnableTasks(os.getpid()).read)
