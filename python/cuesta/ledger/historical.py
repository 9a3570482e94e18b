"""Reads tables typed from documents, in TOML: printed values, and identities that they must satisfy.

`docs/ledger.md` describes the file. A print is kept letter by letter with its page, its legibility, and the reading
that the typist proposes. Nothing is computed or changed here.

The `[[system]]` and `[[improvement]]` of a ledger are prints too: `system.23_9.elapsed`.

A cell is text as printed, or a whole number where something was counted and not rounded, or a table:
`{ printed = ".85 sec.", legibility = "poor", reading = "45" }`.
"""

import datetime
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuesta.errors import InputError
from cuesta.ledger.rows import JsonObject

FORMAT = 1
"""The newest format of these files that can be read."""

LEGIBILITY = ("good", "poor")

LISTED = ("system", "improvement")
"""Lists in a file of goals."""


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """One printed value."""

    text: str
    """The characters as printed."""
    counted: bool = False
    """Whether it is an exact count instead of a rounded number."""
    cut_off: bool = False
    """Whether its further digits were cut off instead of rounded."""
    page: str = ""
    legibility: str = "good"
    reading: str | None = None
    """The typist's reading of it."""
    note: str = ""
    loose: tuple[str, ...] = ()
    """Fragments printed nearby that belong to no other value."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A formula that must hold; its names may have `{holes}`."""

    formula: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """Printed values by name, and the identities among them."""

    title: str
    prints: Mapping[str, PrintedValue]
    identities: tuple[Identity, ...]
    derived: Mapping[str, str] = field(default_factory=dict)
    """Names for what is computed: name → formula."""
    lists: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Named lists of words, for identities with `in`."""
    short: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Rows with fewer cells than columns: how many cells, how many columns."""
    source: str = ""
    date: datetime.date | None = None
    file: Path | None = None


def is_historical(path: Path) -> bool:
    """Whether a TOML file holds typed tables."""
    try:
        return "identity" in read_toml(path)
    except InputError:
        return False


def read_toml(path: Path) -> dict[str, Any]:
    """Raises InputError that names the place."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def read_historical(path: Path | str) -> Document:
    """Raises InputError that names the place."""
    path = Path(path)
    data = read_toml(path)
    try:
        return TableFile(path, data).document()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: not a table typed from a document: {error}", "docs/ledger.md shows one") from None


@dataclass(frozen=True, slots=True)
class TableFile:
    """A TOML file of typed tables."""

    path: Path
    data: JsonObject

    def document(self) -> Document:
        """Raises InputError for a newer format."""
        self.insist_on_format()
        prints, short = dict(self.listed()), dict[str, tuple[int, int]]()
        for name, table in self.data.get("table", {}).items():
            for row, cells in table.get("rows", {}).items():
                place, columns = f"{name}.{row}", table.get("columns", [])
                prints |= dict(self.cells(place, cells, columns, table))
                if isinstance(cells, list) and len(cells) < len(columns):
                    short[place] = len(cells), len(columns)
        stated = tuple(Identity(each["formula"], each.get("why", "")) for each in self.data.get("identity", []))
        return Document(
            title=self.data["title"],
            prints=prints,
            identities=stated,
            derived=self.data.get("derived", {}),
            lists={name: frozenset(words) for name, words in self.data.get("lists", {}).items()},
            short=short,
            source=self.data.get("source", ""),
            date=self.data.get("date"),
            file=self.path,
        )

    def listed(self) -> Iterator[tuple[str, PrintedValue]]:
        """Name the values of a ledger's systems and improvements."""
        for kind in LISTED:
            for entry in self.data.get(kind, []):
                for name, cell in entry.items():
                    place = f"{kind}.{key(entry['name'])}.{name}"
                    if name != "name" and isinstance(cell, str | dict):
                        yield place, self.cell(place, cell, {})

    def insist_on_format(self) -> None:
        found = self.data.get("format", FORMAT)
        if not isinstance(found, int) or found > FORMAT:
            raise InputError(f"{self.path}: is of format {found}, and this cuesta reads up to {FORMAT}")

    def cells(
        self, place: str, cells: Any, columns: list[str], table: JsonObject
    ) -> Iterator[tuple[str, PrintedValue]]:
        """Name the cells of a row after its columns; a row of one value needs none."""
        if not isinstance(cells, list):
            yield place, self.cell(place, cells, table)
            return
        if len(cells) > len(columns):
            raise InputError(f"{self.path}: {place}: {len(cells)} cells, and the table has {len(columns)} columns")
        for column, cell in zip(columns, cells, strict=False):
            yield f"{place}.{column}", self.cell(f"{place}.{column}", cell, table)

    def cell(self, place: str, cell: Any, table: JsonObject) -> PrintedValue:
        """Read a cell; its table gives defaults for what it does not say."""
        if not isinstance(cell, dict):
            cell = {"printed": cell}
        printed = cell["printed"]
        if isinstance(printed, bool) or not isinstance(printed, str | int):
            raise InputError(
                f"{self.path}: {place}: expected text as printed or a whole number, got {printed!r}",
                'write a number that was printed and rounded in quotes: "25.40"',
            )
        legibility = cell.get("legibility", table.get("legibility", "good"))
        if legibility not in LEGIBILITY:
            raise InputError(f"{self.path}: {place}: legibility: expected {' or '.join(LEGIBILITY)}, got {legibility}")
        return PrintedValue(
            text=str(printed),
            counted=isinstance(printed, int),
            cut_off=bool(table.get("cut_off", False)),
            page=str(cell.get("page", table.get("page", ""))),
            legibility=legibility,
            reading=cell.get("reading"),
            note=cell.get("note", ""),
            loose=tuple(table.get("loose", ())),
        )


def key(name: str) -> str:
    """A name as a key: `23.9` becomes `23_9`, `MTS500 (large records), EIS` becomes `mts500`."""
    return re.sub(r"\W+", "_", re.split(r"[(,/]", name)[0].strip()).strip("_").lower()
