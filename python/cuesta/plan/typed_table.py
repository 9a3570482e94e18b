"""A table of published figures typed from a document (docs/ledger.md), as a plan refers to it: `FILE#TABLE`.

It is read with the plan, and `run.json` holds its rows: a run folder can be read without the file.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cuesta.foreign_files import TooLongError, read_text

Cell = float | str | None
"""A number, else the text as printed (`<15%`, `N/A`); None where nothing is printed."""


@dataclass(frozen=True, slots=True)
class TypedTable:
    """One table of a document."""

    title: str
    source: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    names: Sequence[str] = ()
    """Names of the rows; empty in run folders of earlier versions."""

    def column(self, name: str) -> list[Cell]:
        """The cells of a column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    @staticmethod
    def read(value: object) -> "TypedTable":
        """Read `FILE#TABLE`, or what `run.json` holds of it; raises ValueError with what is wrong."""
        if isinstance(value, TypedTable):
            return value
        if isinstance(value, Mapping):
            return TypedTable(**value)
        file, mark, name = value.rpartition("#") if isinstance(value, str) else ("", "", "")
        if not mark:
            raise ValueError("there is no `#`")
        return _read(Path(file), name)

    def json(self) -> dict[str, Any]:
        return asdict(self)


@cache
def _read(file: Path, name: str) -> TypedTable:
    try:
        document = tomllib.loads(read_text(file))
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from None
    except TooLongError:
        raise
    except ValueError as error:
        raise ValueError(f"it is not TOML: {error}") from None
    table = document.get("table", {}).get(name)
    if not isinstance(table, dict) or "columns" not in table:
        known = ", ".join(each for each, rows in document.get("table", {}).items() if "columns" in rows)
        raise ValueError(f"the file has no table of columns `{name}`; it has {known or 'none'}")
    columns, names = table["columns"], list(table["rows"])
    rows = [_cells(table["rows"][name], len(columns)) for name in names]
    return TypedTable(table["title"], document["source"], columns, rows, names)


def _cells(row: Sequence[object], columns: int) -> list[Cell]:
    """The cells of a row, which may have fewer than there are columns."""
    return [*map(_cell, row), *[None] * (columns - len(row))]


def _cell(cell: object) -> Cell:
    """The value of a cell: text as printed, a whole number, or a table with the typist's reading."""
    if isinstance(cell, dict):
        cell = cell.get("reading") or cell["printed"]
    text = str(cell).strip()
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return text or None
