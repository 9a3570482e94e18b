"""The records of hosts' meters: `meters.jsonl`, and `meters-NAME.jsonl` of further hosts. This file derives nothing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cuesta.ledger.rows import JsonObject, RowReader
from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json
from cuesta.records.rows import MeterAbout, MeterRecord

NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
"""The name of a host."""
OF_THE_FIRST = "meters.jsonl"
"""The record of the only host, or of the first of several."""


@dataclass(frozen=True, slots=True)
class MeterRow:
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

    abouts: dict[int, MeterAbout] = field(default_factory=dict)
    """Meters by the number of their first step."""
    rows: list[MeterRow] = field(default_factory=list)
    reports: dict[int, MeterReport] = field(default_factory=dict)
    """Reports of measurement intervals, by step."""
    ends: dict[int, float] = field(default_factory=dict)
    """When the interval of each report ended; for a subject that ended, when it was last seen."""
    gaps: list[Gap] = field(default_factory=list)
    profiles: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    """The host's CPU time by location and module in measurement intervals, by step; empty without stacks. Folders of
    earlier versions have one profile of a whole segment, which is not read."""
    name: str = ""
    """The host's name, where several are metered."""

    def about(self, step: int) -> MeterAbout | None:
        """The meters of a step; None if nothing was metered."""
        firsts = [first for first in self.abouts if first <= step]
        return self.abouts[max(firsts)] if firsts else None


def name_files(hosts: Sequence[str], what: str = "meters") -> dict[str, str]:
    """The files of the meters, each with the name of its host; without a name if only one host is metered.

    A name that no run gives, such as one that leads to another folder, is left out.
    """
    first, *others = [name for name in hosts if NAME.fullmatch(name)] or [""]
    return {f"{what}.jsonl": first, **{f"{what}-{name}.jsonl": name for name in others}}


def read_metered(
    files: Sequence[tuple[int, Path]], begun: int, damage: list[str], reader: RowReader, metered: Metered
) -> None:
    """Add a host's records of segments, each with the number of its first step. Times count from `begun`, in ns."""
    for first, path in files:
        if path.exists():
            for _ in reader.json_rows(path, partial(_take, metered, first, begun), damage):
                pass  # rows are used as they are read


def _take(metered: Metered, first: int, begun: int, content: JsonObject) -> None:
    row = from_json(MeterRecord, content)
    at = (row.at - begun) / 1e9
    step = first + (row.step or 0)
    if row.about:
        metered.abouts[first] = _complete(row.about)
    if row.row is not None and row.seconds is not None:
        metered.rows.append(MeterRow(at, row.seconds, from_json(MeterReport, row.row)))
    if row.sheet is not None:
        metered.reports[step], metered.ends[step] = from_json(MeterReport, row.sheet), at
    if row.profile is not None:
        metered.profiles[step] = row.profile
    if row.gap is not None:
        metered.gaps.append(Gap(at, row.gap))


def _complete(about: MeterAbout) -> MeterAbout:
    """Add `whole_machine` to what an older folder recorded: there `[HOST: ]SUBJECT` says it."""
    if about.whole_machine is not None:
        return about
    return replace(about, whole_machine=about.subject.rpartition(": ")[2] == "machine")
