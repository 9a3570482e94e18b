"""The record of the network between driver and host, `wire.jsonl`. This file derives nothing but differences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cuesta.ledger.rows import JsonObject, RowReader

SIDES = ("driver", "host")


@dataclass(frozen=True, slots=True)
class WireEnd:
    """How the counters of one end of the wire grew in an interval."""

    received_bytes: int
    received_packets: int
    received_dropped: int
    sent_bytes: int
    sent_packets: int
    sent_dropped: int

    @classmethod
    def difference(cls, begin: JsonObject, end: JsonObject) -> Self:
        return cls(**{name: end[name] - begin[name] for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class TmuxRecord:
    """An agent of TMux in an interval."""

    cpu: float
    """Seconds of CPU time."""
    counters: JsonObject
    """What it counted (docs/tmux.md)."""
    dropped: int | None
    """Packets that the kernel lost on the agent's ways in and out; None in records that lack it."""


@dataclass(frozen=True, slots=True)
class WireInterval:
    """The measurement interval of a step on the wire. Times are seconds from the start of the run."""

    begin: float
    end: float
    ends: Mapping[str, WireEnd]
    """By side; a side whose process had ended is missing."""
    tmux: Mapping[str, TmuxRecord]
    """Agents of TMux by side; empty without TMux, and without an agent that had ended."""

    @classmethod
    def from_json(cls, row: JsonObject, begun: int) -> Self:
        """Read a row; instants count from `begun`, in ns."""
        begin, end = row["begin"], row["end"]
        return cls(
            (begin["at"] - begun) / 1e9,
            (end["at"] - begun) / 1e9,
            {side: WireEnd.difference(begin[side], end[side]) for side in SIDES if begin[side] and end[side]},
            dict(tmux_of(begin.get("tmux") or {}, end.get("tmux") or {})),
        )


def tmux_of(begin: JsonObject, end: JsonObject) -> list[tuple[str, TmuxRecord]]:
    """The agents that answered at both bounds; their counters began anew at the first."""
    both = [(side, begin.get(side), end.get(side)) for side in SIDES]
    return [
        (side, TmuxRecord((last["cpu"] - first["cpu"]) / 1e9, last["status"]["wire"], dropped_by(last["status"])))
        for side, first, last in both
        if first and last
    ]


def dropped_by(status: JsonObject) -> int | None:
    return sum(status["endpoint"]["dropped"].values()) if "endpoint" in status else None


def read_wire(
    folders: Sequence[tuple[int, Path]], begun: int, damage: list[str], reader: RowReader
) -> Iterator[tuple[int, WireInterval]]:
    """Read the records of segments, each with the number of its first step. Times count from `begun`, in ns."""
    for first, folder in folders:
        path = folder / "wire.jsonl"
        if path.exists():
            rows = reader.json_rows(path, lambda row: (row["step"], WireInterval.from_json(row, begun)), damage)
            yield from ((first + step, interval) for step, interval in rows)
