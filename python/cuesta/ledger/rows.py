"""Reads files of a run folder, which may be cut off: unreadable rows are left out, and `damage` receives a sentence."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from cuesta.errors import InputError

Parsed = TypeVar("Parsed")
JsonObject = dict[str, Any]
"""An object of JSON, or a table of TOML."""

UNREADABLE = (ValueError, KeyError, TypeError, OverflowError, csv.Error)
"""What parsing a damaged row may raise; a whole number of 400 digits is an OverflowError when it becomes a float."""


def insist_on_known_format(place: Path, version: object, newest: int, writer: object, besides: str = "") -> None:
    """Raises InputError for a format newer than `newest`; `writer` is the version of Cuesta that wrote it, if known."""
    if not isinstance(version, int) or version > newest:
        raise InputError(
            f"{place}: is of format {version}, and this cuesta reads up to {newest}",
            f"use the cuesta that wrote it ({writer or 'its version is not recorded'}) or a newer one{besides}",
        )


def json_rows(path: Path, make: Callable[[JsonObject], Parsed], damage: list[str]) -> Iterator[Parsed]:
    """Read a file with a JSON object on each row."""
    return RowReader().json_rows(path, make, damage)


class RowReader:
    """Reads files of rows; of one that it has read before, only the rows that were added since."""

    def __init__(self) -> None:
        self.ends = Counter[Path]()
        """How far each file was read, in bytes."""
        self.unreadable = Counter[Path]()

    def json_rows(self, path: Path, make: Callable[[JsonObject], Parsed], damage: list[str]) -> Iterator[Parsed]:
        """Read a file with a JSON object on each row."""
        return self.parsed_rows(path, lambda row: make(json.loads(row)), damage)

    def parsed_rows(
        self, path: Path, parse: Callable[[str], Parsed], damage: list[str], start: str = ""
    ) -> Iterator[Parsed]:
        """Parse the rows that begin with `start`; those that cannot be parsed are left out and counted in `damage`."""
        for row in self._whole_rows(path, damage):
            try:
                if row.startswith(start):
                    yield parse(row)
            except UNREADABLE:
                self.unreadable[path] += 1
        if unreadable := self.unreadable[path]:
            rows_are = "row cannot be read and is" if unreadable == 1 else "rows cannot be read and are"
            damage.append(f"{place(path)}: {unreadable} {rows_are} left out")

    def _whole_rows(self, path: Path, damage: list[str]) -> Iterator[str]:
        """The complete rows of a file; a last row without its newline is left out until it has one."""
        try:
            with path.open("rb") as file:
                file.seek(self.ends[path])
                for row in file:
                    if not row.endswith(b"\n"):
                        damage.append(f"{place(path)}: the last row is cut off and left out")
                        return
                    self.ends[path] += len(row)
                    yield row.decode("utf-8", errors="replace")
        except OSError as error:
            damage.append(f"{place(path)}: {error.strerror}")


def read_object(path: Path, damage: list[str]) -> JsonObject:
    """Read a file with one JSON object; empty if the file is missing, cut off or something else."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        damage.append(f"{place(path)}: {error.strerror if isinstance(error, OSError) else 'is cut off'}")
        return {}
    if not isinstance(content, dict):
        damage.append(f"{place(path)}: is no JSON object")
        return {}
    return content


def why_unreadable(error: Exception) -> str:
    """Why a file of JSON could not be read, without Python's words."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, KeyError):
        return f"there is no {error} in it"
    return "it is no JSON in UTF-8" if isinstance(error, ValueError) else "it is no JSON object"


def place(path: Path) -> str:
    """Name a file by its folder, and by its segment if it is of a later one, as `segment-2/agent-0/series.jsonl`."""
    above = path.parent.parent.name
    return f"{above}/" * above.startswith("segment-") + f"{path.parent.name}/{path.name}"
