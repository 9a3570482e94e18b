"""The record of neighbours, `beside.jsonl` and `beside.log`: what ran beside the measurement intervals of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from cuesta.ledger.rows import RowReader
from cuesta.records.reading import from_json
from cuesta.records.rows import NeighbourRow

LONGEST_ROW = 200
"""Characters of a row of `beside.log`."""


@dataclass(frozen=True, slots=True)
class RecordedNeighbour:
    """The neighbour of a step. Times are seconds from the start of the run."""

    begin: float
    """When its CPU time was read first: when the measurement interval began."""
    end: float
    cpu: float
    """Seconds of CPU time between."""
    runs: Sequence[tuple[float, float]]
    """When the command was started, and when it had ended, each time that it ran."""
    ended: str | None
    """How it ended the last time, if by itself."""
    said: str | None
    """The last row that it printed on standard error."""

    @classmethod
    def from_row(cls, row: NeighbourRow, begun: int, said: str | None) -> Self:
        """Read a row; instants count from `begun`, in ns."""
        ends = [run.ended for run in row.runs if run.ended]
        return cls(
            (row.begin.at - begun) / 1e9,
            (row.end.at - begun) / 1e9,
            row.end.cpu - row.begin.cpu,
            [((run.begin - begun) / 1e9, (run.end - begun) / 1e9) for run in row.runs],
            ends[-1] if ends else None,
            said,
        )


def read_neighbours(
    folders: Sequence[tuple[int, Path]], begun: int, damage: list[str], reader: RowReader
) -> Iterator[tuple[int, RecordedNeighbour]]:
    """Read the records of segments, each with the number of its first step. Times count from `begun`, in ns."""
    for first, folder in folders:
        path = folder / "beside.jsonl"
        if path.exists():
            said = read_last_row(folder / "beside.log")
            for row in reader.json_rows(path, partial(from_json, NeighbourRow), damage):
                yield first + row.step, RecordedNeighbour.from_row(row, begun, said)


def read_last_row(path: Path) -> str | None:
    """The last row of a log that is not empty; None without one."""
    try:
        rows = path.read_bytes().decode(errors="replace").split("\n")
    except OSError:
        return None
    return next((row.strip()[:LONGEST_ROW] for row in reversed(rows) if row.strip()), None)
