"""The record of the network between driver and host, `wire.jsonl`. This file derives nothing but differences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from cuesta.ledger.rows import RowReader
from cuesta.records.reading import from_json
from cuesta.records.rows import TmuxReading, WireCounters, WireRow

SIDES = ("driver", "host")


@dataclass(frozen=True, slots=True)
class TmuxRecord:
    """An agent of TMux in an interval."""

    cpu: float
    """Seconds of CPU time."""
    counters: Mapping[str, Any]
    """What it counted (docs/tmux.md)."""
    dropped: int | None
    """Packets that the kernel lost on the agent's ways in and out; None in records that lack it."""


@dataclass(frozen=True, slots=True)
class WireInterval:
    """The measurement interval of a step on the wire. Times are seconds from the start of the run."""

    begin: float
    end: float
    ends: Mapping[str, WireCounters]
    """What each side's end of the wire counted in the interval; a side whose process had ended is missing."""
    tmux: Mapping[str, TmuxRecord]
    """Agents of TMux by side; empty without TMux, and without an agent that had ended."""

    @classmethod
    def from_row(cls, row: WireRow, begun: int) -> Self:
        """Read a row; instants count from `begun`, in ns."""
        return cls(
            (row.begin.at - begun) / 1e9,
            (row.end.at - begun) / 1e9,
            {side: count_growth(begin, end) for side, begin, end in pair_readings(row.begin, row.end)},
            {side: agent_between(begin, end) for side, begin, end in pair_readings(row.begin.tmux, row.end.tmux)},
        )


def pair_readings(begin: Any, end: Any) -> Iterator[tuple[str, Any, Any]]:
    """The readings of each side at the begin and the end; a side that lacks one is left out."""
    sides = ((side, getattr(begin, side, None), getattr(end, side, None)) for side in SIDES)
    return ((side, first, last) for side, first, last in sides if first and last)


def count_growth(begin: WireCounters, end: WireCounters) -> WireCounters:
    return WireCounters(**{name: count - getattr(begin, name) for name, count in asdict(end).items()})


def agent_between(begin: TmuxReading, end: TmuxReading) -> TmuxRecord:
    """An agent's interval. Its counters were reset at `begin`, so that those of `end` are the interval's."""
    endpoint = end.status.get("endpoint")
    dropped = sum(endpoint["dropped"].values()) if endpoint else None
    return TmuxRecord((end.cpu - begin.cpu) / 1e9, end.status["wire"], dropped)


def read_wire(
    folders: Sequence[tuple[int, Path]], begun: int, damage: list[str], reader: RowReader
) -> Iterator[tuple[int, WireInterval]]:
    """Read the records of segments, each with the number of its first step. Times count from `begun`, in ns."""
    for first, folder in folders:
        path = folder / "wire.jsonl"
        if path.exists():
            for row in reader.json_rows(path, partial(from_json, WireRow), damage):
                yield first + row.step, WireInterval.from_row(row, begun)
