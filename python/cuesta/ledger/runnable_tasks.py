"""How many tasks of a benchmark wanted a CPU, look by look: `wanting.jsonl`, opened."""

from dataclasses import dataclass
from statistics import fmean

from cuesta.ledger.rows import json_rows
from cuesta.ledger.run import Recorded

FILE = "wanting.jsonl"


@dataclass(frozen=True, slots=True)
class RunnableTasks:
    """What was seen at instants of the run, in seconds from its start."""

    at: list[float]
    tasks: list[int]
    """Tasks that there were."""
    runnable: list[int]
    """Tasks that ran, could run, or were kept by a device."""

    def idle(self, begin: float, end: float, cpus: int) -> float | None:
        """The share of so many CPUs that the tasks would have left idle, had nobody else been there.

        None if nobody looked in that stretch, or saw no task in it at all.
        """
        looks = [number for number, at in enumerate(self.at) if begin <= at <= end]
        if not cpus or not any(self.tasks[number] for number in looks):
            return None
        return fmean(max(cpus - self.runnable[number], 0) / cpus for number in looks)


def read_runnable_tasks(recorded: Recorded) -> RunnableTasks:
    """Read it; empty if the run has no such file."""
    path, damage = recorded.folder / FILE, list[str]()
    if not path.exists() or not recorded.agents:
        return RunnableTasks([], [], [])
    begun = recorded.agents[0].origin.clock
    rows = sorted(
        json_rows(path, lambda row: ((row["at"] - begun) / 1e9, int(row["tasks"]), int(row["wanting"])), damage)
    )
    return RunnableTasks([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
