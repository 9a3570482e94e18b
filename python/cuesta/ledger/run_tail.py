"""Follows the records of a run that goes on: what those who watch it are shown, but for screens and users.

An observation for each interval, as the run's own command makes them, from the rows that were added.
"""

from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from cuesta._native import Histogram
from cuesta.ledger.rows import RowReader
from cuesta.ledger.run_folder import Tag, number_of, segment_folders
from cuesta.records.messages import Snapshot
from cuesta.records.observation import Observation
from cuesta.records.reading import from_json
from cuesta.records.rows import AgentNote, MarkRow, MeterRecord, SeriesRow, WaitingCounts
from cuesta.records.series import KEYS

Row = TypeVar("Row")
Spent = dict[float, dict[str, list[Histogram]]]
"""Durations by the start of their interval and their series."""


class RunTail:
    """Reads what a run has added to its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reader = RowReader()
        self._errors = defaultdict[Path, int](int)
        self._durations = defaultdict[Path, Spent](lambda: defaultdict(lambda: defaultdict(list)))
        self._meters = defaultdict[Path, list[MeterRecord]](list)
        self._marks = defaultdict[Path, list[MarkRow]](list)
        self._started = dict[Path, int]()

    def read(self) -> Iterator[Observation]:
        """What is new since the last call, an observation for each interval that an agent has recorded."""
        for segment in segment_folders(self.folder):
            self._marks[segment] += self._rows(MarkRow, segment / "marks.jsonl")
            self._meters[segment] += self._rows(MeterRecord, segment / "meters.jsonl")
            for note in self._rows(AgentNote, segment / "agents.jsonl"):
                if note.start_at is not None:
                    self._started.setdefault(segment, note.start_at)
            yield from self._read_segment(segment)

    def _rows(self, kind: type[Row], path: Path) -> Iterator[Row]:
        return self._reader.json_rows(path, lambda row: from_json(kind, row), [])

    def _read_segment(self, segment: Path) -> Iterator[Observation]:
        by_interval = defaultdict[float, list[Snapshot]](list)
        for agent in sorted(segment.glob("agent-*"), key=number_of):
            for snapshot in self._read_agent(agent):
                by_interval[round(snapshot.seconds, 3)].append(snapshot)
        for seconds, snapshots in sorted(by_interval.items()):
            meters = self._meters_at(segment, seconds)
            yield Observation(snapshots=snapshots, meters=meters, marks=tuple(self._marks[segment]))

    def _meters_at(self, segment: Path, seconds: float) -> list[MeterRecord]:
        """The newest reading of the host's meters then; those before it are forgotten."""
        at = self._started.get(segment, 0) + seconds * 1e9
        readings = [row for row in self._meters[segment] if row.row or row.gap]
        past, later = [row for row in readings if row.at <= at], [row for row in readings if row.at > at]
        self._meters[segment] = past[-1:] + later
        return past[-1:]

    def _read_agent(self, agent: Path) -> Iterator[Snapshot]:
        durations = self._durations[agent]
        for start, series, histogram in self._reader.parsed_rows(
            agent / "histograms.hlog", _parse_durations, [], start="Tag="
        ):
            durations[start][series].append(histogram)
        for row in self._rows(SeriesRow, agent / "series.jsonl"):
            self._errors[agent] += sum(row.errors.values())
            yield _snapshot(number_of(agent), row, durations.pop(row.start, {}), self._errors[agent])


def _parse_durations(row: str) -> tuple[float, str, Histogram]:
    """The start, the series and the durations of a row of `histograms.hlog`."""
    text, start, _, _, encoded = row.removeprefix("Tag=").split(",")
    tag = Tag.parse(text)
    series = f"{KEYS}/{tag.series}" if tag.source == KEYS else tag.series
    return float(start), series, Histogram.decode(encoded.strip())


def _snapshot(agent: int, row: SeriesRow, durations: Mapping[str, Sequence[Histogram]], errors: int) -> Snapshot:
    def encoded(series: str) -> str | None:
        total = Histogram.sum(durations.get(series, []))
        return b64encode(total.encode()).decode() if total else None

    return Snapshot(
        seconds=row.start + row.length,
        total=None,
        step=row.step,
        steps=1,
        phase=row.phase,
        users=row.users,
        transactions=row.transactions,
        keys=row.keys,
        length=row.length,
        errors=errors,
        response=encoded("response"),
        echo=encoded(f"{KEYS}/echo"),
        lateness=encoded(f"{KEYS}/lateness"),
        cpu=row.cpu,
        agent=agent,
        waiting=row.waiting or WaitingCounts(oldest=0.0),
        long_wait=None,
    )
