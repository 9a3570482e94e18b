"""Reads the further readings of a certification's run, each with its instant: kernel threads, linkers, tasks."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from cuesta.ledger.rows import json_rows
from cuesta.ledger.run_folder import Recorded


@dataclass(frozen=True, slots=True)
class KernelThreads:
    """CPU time of the kernel's own threads since the first reading, at instants of the run; all in seconds."""

    at: list[float]
    used: list[float]

    def used_between(self, begin: float, end: float) -> float | None:
        """CPU time in a part of the run; None unless readings cover all of it."""
        if not self.at or not self.at[0] <= begin <= end <= self.at[-1]:
            return None
        return self._until(end) - self._until(begin)

    def _until(self, at: float) -> float:
        """CPU time used by an instant, interpolated between two readings."""
        number = max(bisect_left(self.at, at), 1)
        before, after = self.at[number - 1], self.at[number]
        part = (at - before) / (after - before) if after > before else 1.0
        return self.used[number - 1] + part * (self.used[number] - self.used[number - 1])


@dataclass(frozen=True, slots=True)
class Linked:
    """What dynamic linkers had bound by instants of the run, in seconds from its start."""

    at: list[float]
    programs: list[int]
    """Programs whose linker had reported."""
    symbols: list[int]
    """References that the linkers had bound by name."""

    def linked_between(self, begin: float, end: float) -> tuple[int, int] | None:
        """Programs and references of a phase; None unless there is a reading before its begin and one after its end.

        Linkers report when a program starts and when it ends, which happens only in the phases. So the phase's numbers
        are the difference of the readings just outside of it.
        """
        first, last = bisect_right(self.at, begin) - 1, bisect_left(self.at, end)
        if first < 0 or last >= len(self.at):
            return None
        return self.programs[last] - self.programs[first], self.symbols[last] - self.symbols[first]


@dataclass(frozen=True, slots=True)
class RunnableTasks:
    """How many tasks of a benchmark wanted a CPU, at instants of the run in seconds from its start."""

    at: list[float]
    tasks: list[int]
    """Number of all tasks."""
    runnable: list[int]
    """Tasks that ran, were ready to run, or waited for a device."""

    def idle(self, begin: float, end: float, cpus: int) -> float | None:
        """The share of `cpus` CPUs that the tasks would have left idle on a machine without other work.

        None if there is no sample from `begin` to `end`, or none with a task.
        """
        samples = [number for number, at in enumerate(self.at) if begin <= at <= end]
        if not cpus or not any(self.tasks[number] for number in samples):
            return None
        return fmean(max(cpus - self.runnable[number], 0) / cpus for number in samples)


def read_kernel_threads(recorded: Recorded) -> KernelThreads:
    return KernelThreads(*read_columns(recorded, "kernel-threads.jsonl", float, "seconds"))


def read_linkage(recorded: Recorded) -> Linked:
    return Linked(*read_columns(recorded, "linkage.jsonl", int, "programs", "symbols"))


def read_runnable_tasks(recorded: Recorded) -> RunnableTasks:
    return RunnableTasks(*read_columns(recorded, "wanting.jsonl", int, "tasks", "wanting"))


def read_columns(recorded: Recorded, file: str, kind: type[int] | type[float], *names: str) -> list[list[Any]]:
    """Read instants in order of time, and the columns of numbers beside them; all empty if the run has no such file."""
    path, rows = recorded.folder / file, list[tuple[Any, ...]]()
    if path.exists() and recorded.agents:
        begun = recorded.agents[0].origin.clock
        rows = sorted(
            json_rows(path, lambda row: ((row["at"] - begun) / 1e9, *(kind(row[name]) for name in names)), [])
        )
    return [[row[column] for row in rows] for column in range(1 + len(names))]
