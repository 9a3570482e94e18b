"""Reads `wanting.jsonl`: how many tasks of a benchmark were runnable, sample by sample."""

from dataclasses import dataclass
from statistics import fmean

from cuesta.ledger.rows import json_rows
from cuesta.ledger.run_folder import Recorded

FILE = "wanting.jsonl"


@dataclass(frozen=True, slots=True)
class RunnableTasks:
    """Numbers of tasks at instants of the run, in seconds from its start."""

    at: list[float]
    tasks: list[int]
    """Number of all tasks."""
    runnable: list[int]
    """Tasks that ran, were ready to run, or waited for a device."""

    def idle(self, begin: float, end: float, cpus: int) -> float | None:
        """The share of `cpus` CPUs that the tasks would have left idle on a machine without other work.

        None if there is no sample from `begin` to `end`, or none with a task.
        """
        looks = [number for number, at in enumerate(self.at) if begin <= at <= end]
        if not cpus or not any(self.tasks[number] for number in looks):
            return None
        return fmean(max(cpus - self.runnable[number], 0) / cpus for number in looks)


def read_runnable_tasks(recorded: Recorded) -> RunnableTasks:
    """Empty if the run has no such file."""
    path, damage = recorded.folder / FILE, list[str]()
    if not path.exists() or not recorded.agents:
        return RunnableTasks([], [], [])
    begun = recorded.agents[0].origin.clock
    rows = sorted(
        json_rows(path, lambda row: ((row["at"] - begun) / 1e9, int(row["tasks"]), int(row["wanting"])), damage)
    )
    return RunnableTasks([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
