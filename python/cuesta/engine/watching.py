"""Records what those who watch a segment leave in its folder: `marks.jsonl`, and what watching cost: `watchers.jsonl`.

The CPU time of those who watch is read at the first look after each bound of a measurement interval; a row is written
when the interval has ended, or the segment has.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuesta.engine.console import Mark, Watcher
from cuesta.private_files import record_file
from cuesta.records.reading import to_row
from cuesta.records.rows import CpuReading, MarkRow, WatcherRow

SECOND = 1_000_000_000


@dataclass(slots=True)
class AwaitedStep:
    """A step whose measurement interval has not ended. Instants are on the engine's clock."""

    number: int
    settled: int
    end: int
    begin: Sequence[CpuReading] = ()
    """A reading of each who watches, once the interval has begun."""


@dataclass(slots=True)
class WatchRecord:
    """What those who watch a segment leave."""

    folder: Path
    start_at: int
    """On the engine's clock."""
    watchers: Sequence[Watcher]
    marks: list[MarkRow] = field(default_factory=list)
    """Those of the segment so far."""
    awaited: deque[AwaitedStep] = field(default_factory=deque)

    def expect(self, number: int, settled: int, end: int) -> None:
        """Have a step's cost recorded; instants are nanoseconds from the start."""
        self.awaited.append(AwaitedStep(number, self.start_at + settled, self.start_at + end))

    def note(self, marks: Sequence[Mark]) -> None:
        """Record marks."""
        rows = [self._make_row(mark) for mark in marks]
        self.marks += rows
        self._write("marks.jsonl", rows)

    def look(self, now: int) -> None:
        """Read what watching has cost, if an interval has begun or ended."""
        while self.awaited and now >= self.awaited[0].settled:
            step = self.awaited[0]
            step.begin = step.begin or self._read(now)
            if now < step.end:
                return
            self._write_cost(self.awaited.popleft(), now)

    def close(self, now: int) -> None:
        """Record the cost of a step that did not come to its end."""
        if self.awaited:
            self._write_cost(self.awaited.popleft(), now)

    def _make_row(self, mark: Mark) -> MarkRow:
        seconds = max(mark.at - self.start_at, 0) / SECOND
        return MarkRow(seconds=seconds, note=mark.note, holds_starts=mark.holds_starts)

    def _read(self, now: int) -> Sequence[CpuReading]:
        return [CpuReading(at=now, cpu=each.cpu()) for each in self.watchers]

    def _write_cost(self, step: AwaitedStep, now: int) -> None:
        readings = zip(self.watchers, step.begin, self._read(now), strict=True) if step.begin else ()
        rows = [WatcherRow(step=step.number, name=each.name, begin=begin, end=end) for each, begin, end in readings]
        self._write("watchers.jsonl", rows)

    def _write(self, name: str, rows: Sequence[Any]) -> None:
        if rows:
            with record_file(self.folder / name, "a") as file:
                for row in rows:
                    file.write(to_row(row))
