"""Reads `agents.jsonl`: each agent's node, its clock by the engine's, when it said nothing, and how it died."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cuesta.ledger.rows import json_rows
from cuesta.records.reading import from_json
from cuesta.records.rows import AgentNote


@dataclass(frozen=True, slots=True)
class Death:
    """The end of an agent's process before its time."""

    how: str
    """Such as `was killed by signal 9`."""
    seconds: float
    """Seconds from the start of its segment."""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """A reading of an agent's clock."""

    seconds: float
    """When it was noted: seconds from the start of the segment."""
    offset: int
    """How far the clock was ahead of the engine's, in ns."""
    error: int
    """The most by which that may be wrong, in ns."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which an agent said nothing, in seconds from the start of its segment."""

    begin: float
    end: float


@dataclass(frozen=True, slots=True)
class AgentNotes:
    """What the engine noted about an agent; folders of earlier versions have nothing."""

    node: str | None = None
    """The name of its node; None on the engine's own machine."""
    clock: str | None = None
    """The name of its clock."""
    offset: int = 0
    """How far that was ahead of the engine's clock at the start, in ns."""
    start_at: int = 0
    """The start of the segment, in ns on the engine's clock."""
    readings: Sequence[ClockReading] = ()
    """In order of time; a clock that is the engine's own has one."""
    silences: Sequence[Silence] = ()
    """In order of time."""
    death: Death | None = None


def read_notes(segment: Path, damage: list[str]) -> dict[int, AgentNotes]:
    """Read the notes of a segment, by the number of the agent."""
    path, rows = segment / "agents.jsonl", defaultdict[int, list[AgentNote]](list)
    for row in json_rows(path, partial(from_json, AgentNote), damage) if path.exists() else ():
        rows[row.agent].append(row)
    return {agent: _gather(own) for agent, own in rows.items()}


def _gather(rows: Sequence[AgentNote]) -> AgentNotes:
    """Gather an agent's rows."""
    start = next((row for row in rows if row.start_at is not None), AgentNote(at=rows[0].at, agent=rows[0].agent))
    start_at = start.start_at or 0
    begun = start_at or start.at
    died = next((row for row in rows if row.died), None)
    spoke = rows[: rows.index(died)] if died else rows  # what is noted later is the silence of a dead one
    return AgentNotes(
        node=next((row.node for row in rows if row.node), None),
        clock=start.clock,
        offset=start.offset or 0,
        start_at=start_at,
        readings=list(_list_readings(rows, begun)),
        silences=[Silence((row.at - row.silent - begun) / 1e9, (row.at - begun) / 1e9) for row in spoke if row.silent],
        death=Death(died.died, (died.at - (start_at or died.at)) / 1e9) if died and died.died else None,
    )


def _list_readings(rows: Sequence[AgentNote], begun: int) -> Iterator[ClockReading]:
    for row in rows:
        if row.offset is not None:
            yield ClockReading((row.at - begun) / 1e9, row.offset, row.error or 0)


def offset_of(clock: str | None, notes: Mapping[int, AgentNotes]) -> int:
    """How far a clock is ahead of the engine's, in ns; 0 for a clock that no agent has: it is the engine's own."""
    return next((note.offset for note in notes.values() if clock and note.clock == clock), 0)
