"""The record of the host's meters, `meters.jsonl`. This file derives nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cuesta.ledger.rows import JsonObject, RowReader
from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json


@dataclass(frozen=True, slots=True)
class About:
    """The meters of one segment."""

    source: str
    """`here`, `ssh`, `node_exporter` or `none`."""
    subject: str
    why: str
    """Why this subject; or why nothing was metered."""
    honesty: str
    """How certain CPU figures are in this arrangement."""
    order: int | None = None
    """The attribution level (docs/meters.md), from 1, the most certain; None if it has none."""
    whole_machine: bool = False
    """Whether the subject is the whole machine."""


@dataclass(frozen=True, slots=True)
class Row:
    """The meters of about a second. Times are seconds from the start of the run."""

    end: float
    length: float
    report: MeterReport


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap of the meters, from `at` until they started again."""

    at: float
    why: str


@dataclass(frozen=True, slots=True)
class Metered:
    """The meters' record of a run; empty for a run that had none."""

    abouts: dict[int, About] = field(default_factory=dict)
    """Meters by the number of their first step."""
    rows: list[Row] = field(default_factory=list)
    reports: dict[int, MeterReport] = field(default_factory=dict)
    """Reports of measurement intervals, by step."""
    ends: dict[int, float] = field(default_factory=dict)
    """When the interval of each report ended; for a subject that ended, when it was last seen."""
    gaps: list[Gap] = field(default_factory=list)
    profiles: dict[int, JsonObject] = field(default_factory=dict)
    """The host's CPU time by location and module in measurement intervals, by step; empty without stacks. Folders of
    earlier versions have one profile of a whole segment, which is not read."""

    def about(self, step: int) -> About | None:
        """The meters of a step; None if nothing was metered."""
        firsts = [first for first in self.abouts if first <= step]
        return self.abouts[max(firsts)] if firsts else None


def read_metered(
    folders: Sequence[tuple[int, Path]], begun: int, damage: list[str], reader: RowReader, metered: Metered
) -> None:
    """Add the records of segments, each with the number of its first step. Times count from `begun`, in ns."""
    for first, folder in folders:
        path = folder / "meters.jsonl"
        if path.exists():
            for _ in reader.json_rows(path, partial(_take, metered, first, begun), damage):
                pass  # rows are used as they are read


def _take(metered: Metered, first: int, begun: int, row: JsonObject) -> None:
    at = (row["at"] - begun) / 1e9
    match row:
        case {"about": about}:
            metered.abouts[first] = About(**{"whole_machine": is_whole_machine(about["subject"]), **about})
        case {"row": figures, "seconds": seconds}:
            metered.rows.append(Row(at, seconds, from_json(MeterReport, figures)))
        case {"step": step, "sheet": report}:
            metered.reports[first + step], metered.ends[first + step] = from_json(MeterReport, report), at
        case {"step": step, "profile": listing}:
            metered.profiles[first + step] = listing
        case {"gap": why}:
            metered.gaps.append(Gap(at, why))


def is_whole_machine(subject: str) -> bool:
    """Read it from `[HOST: ]SUBJECT`, for folders written before it had a field of its own."""
    return subject.rpartition(": ")[2] == "machine"
