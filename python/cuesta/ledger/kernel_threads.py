"""Reads `kernel-threads.jsonl`: CPU time of the kernel's own threads during a run of a certification."""

from bisect import bisect_left
from dataclasses import dataclass

from cuesta.ledger.rows import json_rows
from cuesta.ledger.run_folder import Recorded

FILE = "kernel-threads.jsonl"


@dataclass(frozen=True, slots=True)
class KernelThreads:
    """CPU time since the first reading, at instants of the run; all in seconds."""

    at: list[float]
    used: list[float]

    def between(self, begin: float, end: float) -> float | None:
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


def read_kernel_threads(recorded: Recorded) -> KernelThreads:
    """Empty if the run has no such file."""
    path, damage = recorded.folder / FILE, list[str]()
    if not path.exists() or not recorded.agents:
        return KernelThreads([], [])
    begun = recorded.agents[0].origin.clock
    rows = sorted(json_rows(path, lambda row: ((row["at"] - begun) / 1e9, float(row["seconds"])), damage))
    return KernelThreads([at for at, _ in rows], [used for _, used in rows])
