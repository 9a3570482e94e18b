"""Reads `agents.jsonl`: the offset of each agent's clock to the engine's, and how an agent died."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
class AgentNotes:
    """What the engine noted about an agent; folders of earlier versions have nothing."""

    clock: str | None = None
    """The name of its clock."""
    offset: int = 0
    """How far that was ahead of the engine's clock at the start, in ns."""
    start_at: int = 0
    """The start of the segment, in ns on the engine's clock."""
    death: Death | None = None


def read_notes(segment: Path, damage: list[str]) -> dict[int, AgentNotes]:
    """Read the notes of a segment, by the number of the agent."""
    path, notes = segment / "agents.jsonl", dict[int, AgentNotes]()
    for row in json_rows(path, partial(from_json, AgentNote), damage) if path.exists() else ():
        notes[row.agent] = _add_note(notes.get(row.agent, AgentNotes()), row)
    return notes


def _add_note(before: AgentNotes, row: AgentNote) -> AgentNotes:
    if row.start_at is not None:
        return replace(before, clock=row.clock, offset=row.offset or 0, start_at=row.start_at)
    if row.died:
        return replace(before, death=Death(row.died, (row.at - (before.start_at or row.at)) / 1e9))
    return before


def offset_of(clock: str | None, notes: Mapping[int, AgentNotes]) -> int:
    """How far a clock is ahead of the engine's, in ns; 0 for a clock that no agent has: it is the engine's own."""
    return next((note.offset for note in notes.values() if clock and note.clock == clock), 0)
