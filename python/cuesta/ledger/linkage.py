"""Reads `linkage.jsonl`: the reports of dynamic linkers in an extra run of a certification."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from cuesta.ledger.rows import json_rows
from cuesta.ledger.run_folder import Recorded

FILE = "linkage.jsonl"


@dataclass(frozen=True, slots=True)
class Linked:
    """Programs and references linked by instants of the run, in seconds from its start."""

    at: list[float]
    programs: list[int]
    """Programs whose linker had reported."""
    symbols: list[int]
    """References that the linkers had bound by name."""

    def between(self, begin: float, end: float) -> tuple[int, int] | None:
        """Programs and references of a phase; None unless there is a reading before its begin and one after its end.

        Linkers report when a program starts and when it ends, which happens only in the phases. So the phase's numbers
        are the difference of the readings just outside of it.
        """
        first, last = bisect_right(self.at, begin) - 1, bisect_left(self.at, end)
        if first < 0 or last >= len(self.at):
            return None
        return self.programs[last] - self.programs[first], self.symbols[last] - self.symbols[first]


def read_linkage(recorded: Recorded) -> Linked:
    """Empty if the run has no such file."""
    path, damage = recorded.folder / FILE, list[str]()
    if not path.exists() or not recorded.agents:
        return Linked([], [], [])
    begun = recorded.agents[0].origin.clock
    rows = sorted(
        json_rows(path, lambda row: ((row["at"] - begun) / 1e9, int(row["programs"]), int(row["symbols"])), damage)
    )
    return Linked([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
