"""Reads what is known of followed keys: the driver's side of them, `agent-K/followed.csv`, and their paths through a
host, `paths.jsonl` (`paths-NAME.jsonl` of a further host). This file joins nothing.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

from cuesta.ledger.meters import name_files
from cuesta.ledger.rows import RowReader
from cuesta.ledger.run_folder import Agent, Recorded, segment_folders
from cuesta.records.reading import from_json
from cuesta.records.rows import FollowedRow, PathRecord

FILE = "followed.csv"
NAMES = tuple(field.name for field in fields(FollowedRow))
TEXTS, FLAGS = ("user_group", "what"), ("quickack",)


@dataclass(frozen=True, slots=True)
class Followed:
    """A row of `followed.csv`, and when it was in the run."""

    row: FollowedRow
    """Its instants are on the agent's clock, in ns."""
    segment: Path
    """The folder of its segment."""
    sent: float
    """Seconds from the start of the run."""
    shown: float

    @property
    def took(self) -> int:
        """From the key to its echo in ns, by the kernel's stamps where there are both."""
        if self.row.kernel_sent is not None and self.row.kernel_shown is not None:
            return self.row.kernel_shown - self.row.kernel_sent
        return self.row.shown - self.row.sent


def read_followed(recorded: Recorded) -> Iterator[Followed]:
    """The followed keys of all agents, in the order in which they were written; none if the run followed none."""
    begun = recorded.agents[0].origin.clock if recorded.agents else 0
    for agent in recorded.agents:
        yield from _read_log(agent, begun + agent.notes.offset, recorded.damage)


def has_followed(recorded: Recorded) -> bool:
    return any((agent.folder / FILE).exists() for agent in recorded.agents)


def _read_log(agent: Agent, begun: int, damage: list[str]) -> Iterator[Followed]:
    path, segment = agent.folder / FILE, agent.folder.parent
    if path.exists():
        yield from RowReader().parsed_rows(path, lambda row: _parse(row, segment, begun), damage, start='"')


def _parse(text: str, segment: Path, begun: int) -> Followed:
    """Read a row; columns that a newer version may have added are left out."""
    cells = dict(zip(NAMES, next(csv.reader([text], strict=True)), strict=False))
    row = from_json(FollowedRow, {name: _read_cell(name, cell) for name, cell in cells.items()})
    return Followed(row, segment, (row.sent - begun) / 1e9, (row.shown - begun) / 1e9)


def _read_cell(name: str, cell: str) -> str | bool | int | None:
    if name in TEXTS or not cell:
        return cell or None
    return cell == "true" if name in FLAGS else int(cell)


def name_path_files(recorded: Recorded) -> dict[str, str]:
    """The files of paths, each with the name of its host; without a name if only one host is metered."""
    return name_files(recorded.run.get("metered", ()), "paths")


def read_paths(recorded: Recorded, file: str) -> Iterator[tuple[Path, PathRecord]]:
    """The rows of a host's files, each with the folder of its segment, in the order in which the paths ended."""
    for segment in segment_folders(recorded.folder):
        if (path := segment / file).exists():
            for record in RowReader().json_rows(path, partial(from_json, PathRecord), recorded.damage):
                yield segment, record
