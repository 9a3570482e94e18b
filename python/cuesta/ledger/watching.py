"""What those who watched a run left: marks (`marks.jsonl`), and what watching cost (`watchers.jsonl`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from cuesta.ledger.rows import RowReader
from cuesta.records.reading import from_json
from cuesta.records.rows import MarkRow, WatcherRow


@dataclass(frozen=True, slots=True)
class RecordedMark:
    """An instant that somebody marked."""

    at: float
    """Seconds from the start of the run."""
    note: str
    holds_starts: bool | None
    """Whether users who had not started waited from then on; None for a mark that changed nothing."""


@dataclass(frozen=True, slots=True)
class RecordedWatcher:
    """What somebody who watched used in a step's measurement interval."""

    name: str
    seconds: float
    """The time between its two readings."""
    cpu: float
    """Seconds of CPU time between them."""

    @classmethod
    def from_row(cls, row: WatcherRow) -> Self:
        return cls(row.name, (row.end.at - row.begin.at) / 1e9, row.end.cpu - row.begin.cpu)


def read_marks(segment: Path, damage: list[str], reader: RowReader) -> Iterator[MarkRow]:
    """Read the marks of a segment; their times count from its start."""
    path = segment / "marks.jsonl"
    if path.exists():
        yield from reader.json_rows(path, partial(from_json, MarkRow), damage)


def place_marks(marks: Mapping[Path, Sequence[MarkRow]], starts: Mapping[Path, float]) -> list[RecordedMark]:
    """Place marks in the run, in order of time. Those of a segment whose start is not known are left out."""
    placed = [
        RecordedMark(start + row.seconds, row.note, row.holds_starts)
        for segment, start in starts.items()
        for row in marks.get(segment, ())
    ]
    return sorted(placed, key=lambda mark: mark.at)


def read_watchers(
    folders: Sequence[tuple[int, Path]], damage: list[str], reader: RowReader
) -> Iterator[tuple[int, RecordedWatcher]]:
    """Read the records of segments, each with the number of its first step."""
    for first, folder in folders:
        path = folder / "watchers.jsonl"
        if path.exists():
            for row in reader.json_rows(path, partial(from_json, WatcherRow), damage):
                yield first + row.step, RecordedWatcher.from_row(row)
