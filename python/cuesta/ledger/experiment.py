"""Lists the runs of a comparison: all of one side, or pairs of both.

A side is a run folder, or a folder that holds run folders: a certification, or any that a person put together.
`cuesta compare --interleave` makes pairs; their index has a row for each completed pair.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cuesta.errors import InputError
from cuesta.ledger.rows import JsonObject, json_rows

INDEX = "pairs.jsonl"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs, one of each side, made directly after each other."""

    base: Path
    new: Path
    first: Literal["base", "new"]
    """The run that was made first."""


def run_folders(folder: Path) -> list[Path]:
    """The runs of a side, in order of their numbers. Raises InputError if there is none."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder", "give a run folder, or a folder that holds some")
    if (folder / "run.json").is_file():
        return [folder]
    runs = [path.parent for path in folder.glob("*/run.json")]
    if not runs:
        raise InputError(f"{folder}: holds no run", "give a run folder, or a folder with run folders right in it")
    return sorted(runs, key=_natural)


def read_pairs(folder: Path) -> list[Pair]:
    """Read the index of pairs; a last row that is cut off is left out. Raises InputError if it cannot be read."""
    index = folder / INDEX
    try:
        index.open("rb").close()
    except OSError:
        remedy = "give a second folder to compare it with, or what `cuesta compare --interleave` left"
        raise InputError(f"{folder}: holds no pairs of runs (no {INDEX} in it)", remedy) from None

    def pair(row: JsonObject) -> Pair:
        return Pair(folder / row["base"], folder / row["new"], "new" if row["first"] == "new" else "base")

    return list(json_rows(index, pair, damage=[]))


def _natural(path: Path) -> list[tuple[int, str]]:
    """A sorting key that orders run-2 before run-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name)]
