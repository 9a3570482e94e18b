"""Reads the further readings of a certification's run, each with its instant: kernel threads, linkers, tasks."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from operator import itemgetter
from statistics import fmean
from typing import TypeVar

from cuesta.ledger.rows import JsonObject, json_rows
from cuesta.ledger.run_folder import Recorded
from cuesta.records.reading import from_json
from cuesta.records.rows import KernelThreadsRow, LinkageRow, RunnableRow

Reading = TypeVar("Reading", KernelThreadsRow, LinkageRow, RunnableRow)


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
    at, rows = _read(recorded, "kernel-threads.jsonl", KernelThreadsRow)
    return KernelThreads(at, [row.seconds for row in rows])


def read_linkage(recorded: Recorded) -> Linked:
    at, rows = _read(recorded, "linkage.jsonl", LinkageRow)
    return Linked(at, [row.programs for row in rows], [row.symbols for row in rows])


def read_runnable_tasks(recorded: Recorded) -> RunnableTasks:
    at, rows = _read(recorded, "wanting.jsonl", RunnableRow)
    return RunnableTasks(at, [row.tasks for row in rows], [row.wanting for row in rows])


def _read(recorded: Recorded, file: str, kind: type[Reading]) -> tuple[list[float], list[Reading]]:
    """Read rows in order of time, and their instants in seconds from the run's start; none if there is no such file."""
    path = recorded.folder / file
    if not path.exists() or not recorded.agents:
        return [], []
    begun = recorded.agents[0].origin.clock

    def take(content: JsonObject) -> tuple[float, Reading]:
        row = from_json(kind, content)
        return (row.at - begun) / 1e9, row

    readings = sorted(json_rows(path, take, []), key=itemgetter(0))
    return [at for at, _ in readings], [row for _, row in readings]
