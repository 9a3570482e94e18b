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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from cuesta.errors import InputError
from cuesta.foreign_files import read_text
from cuesta.ledger.rows import JsonObject
from cuesta.validation import describe_problem, show_value, suggest

FORMAT = 1
"""The newest format of these files that can be read."""

Legibility = Literal["good", "poor"]


@dataclass(frozen=True, slots=True)
class PrintedValue:
    text: str
    """The characters as printed."""
    counted: bool = False
    """Whether it is an exact count instead of a rounded number."""
    cut_off: bool = False
    """Whether its further digits were cut off instead of rounded."""
    page: str = ""
    legibility: Legibility = "good"
    reading: str | None = None
    """The typist's reading of it."""
    note: str = ""
    loose: tuple[str, ...] = ()
    """Fragments printed nearby that belong to no other value."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A formula that must hold; its names may have `{holes}`."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

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


class Entry(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _check_printed(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int):
        got = show_value(value)
        text = f'expected text as printed or a whole number, got {got}; write a rounded number in quotes: "25.40"'
        raise PydanticCustomError("printed", "{text}", {"text": text})
    return value


Printed = Annotated[str | int, BeforeValidator(_check_printed)]


class Cell(Entry):
    """A printed value. What it leaves out, its table says."""

    printed: Printed
    page: Printed = ""
    legibility: Legibility | None = None
    reading: str | None = None
    note: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_print(cls, value: object) -> object:
        return value if isinstance(value, dict) else {"printed": value}


Row = Annotated[
    Annotated[Cell, Tag("cell")] | Annotated[list[Cell], Tag("cells")],
    Discriminator(lambda value: "cells" if isinstance(value, list) else "cell"),
]
"""One cell, or a cell for each column."""


class Table(Entry):
    title: str = ""
    page: Printed = ""
    legibility: Legibility = "good"
    cut_off: bool = False
    loose: tuple[str, ...] = ()
    columns: list[str] = []
    rows: dict[str, Row] = {}

    @model_validator(mode="after")
    def _fit(self) -> Self:
        for name, row in self.rows.items():
            if isinstance(row, list) and len(row) > len(self.columns):
                columns = len(self.columns)
                raise ValueError(f"its row {name} has {len(row)} cells, and the table has {columns} columns")
        return self

    def prints(self, name: str) -> Iterator[tuple[str, PrintedValue]]:
        """The values: of a row, and of the columns of a row."""
        for row, cells in self.rows.items():
            if isinstance(cells, Cell):
                yield f"{name}.{row}", self.printed_value(cells)
            else:
                for column, cell in zip(self.columns, cells, strict=False):
                    yield f"{name}.{row}.{column}", self.printed_value(cell)

    def printed_value(self, cell: Cell) -> PrintedValue:
        return PrintedValue(
            text=str(cell.printed),
            counted=isinstance(cell.printed, int),
            cut_off=self.cut_off,
            page=str(cell.page or self.page),
            legibility=cell.legibility or self.legibility,
            reading=cell.reading,
            note=cell.note,
            loose=self.loose,
        )

    def short(self, name: str) -> dict[str, tuple[int, int]]:
        """`Document.short` of this table."""
        columns = len(self.columns)
        rows = ((row, cells) for row, cells in self.rows.items() if isinstance(cells, list))
        return {f"{name}.{row}": (len(cells), columns) for row, cells in rows if len(cells) < columns}


class Listed(Entry):
    """A system or an improvement of a ledger: its text is printed, `cuesta.ledger.goals` reads the rest."""

    name: str
    cells: dict[str, Cell]

    @model_validator(mode="before")
    @classmethod
    def _take_prints(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        cells = {name: cell for name, cell in value.items() if name != "name" and isinstance(cell, str | dict)}
        return {**({"name": value["name"]} if "name" in value else {}), "cells": cells}


class TableFile(BaseModel):
    """A file of typed tables; keys of others, such as `[[points]]`, are ignored."""

    title: str
    source: str = ""
    date: datetime.date | None = None
    table: dict[str, Table] = {}
    identity: tuple[Identity, ...] = ()
    derived: dict[str, str] = {}
    lists: dict[str, frozenset[str]] = {}
    system: list[Listed] = []
    improvement: list[Listed] = []

    def document(self, file: Path) -> Document:
        prints, short = dict(self.listed()), dict[str, tuple[int, int]]()
        for name, table in self.table.items():
            prints |= table.prints(name)
            short |= table.short(name)
        return Document(
            title=self.title,
            prints=prints,
            identities=self.identity,
            derived=self.derived,
            lists=self.lists,
            short=short,
            source=self.source,
            date=self.date,
            file=file,
        )

    def listed(self) -> Iterator[tuple[str, PrintedValue]]:
        """The values of a ledger's systems and improvements."""
        for kind, entries in (("system", self.system), ("improvement", self.improvement)):
            for entry in entries:
                for name, cell in entry.cells.items():
                    yield f"{kind}.{key(entry.name)}.{name}", Table().printed_value(cell)


def read_historical(path: Path | str) -> Document:
    """Raises InputError with a row for each mistake, which names its place."""
    path = Path(path)
    data = read_toml(path)
    check_format(path, data)
    try:
        return TableFile.model_validate(data).document(path)
    except ValidationError as error:
        rows = [f"{path}: {_place(detail['loc'], data)}: {_message(detail)}" for detail in error.errors()]
        raise InputError("\n".join(dict.fromkeys(rows)), "docs/ledger.md shows a typed table") from None


def is_historical(path: Path) -> bool:
    """Whether a TOML file holds typed tables."""
    try:
        return "identity" in read_toml(path)
    except InputError:
        return False


def read_toml(path: Path) -> dict[str, Any]:
    """Raises InputError that names the place."""
    try:
        return tomllib.loads(read_text(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def check_format(path: Path, data: JsonObject) -> None:
    """Raises InputError for a file of a newer format."""
    version = data.get("format", FORMAT)
    if not isinstance(version, int) or version > FORMAT:
        raise InputError(f"{path}: is of format {version}, and this cuesta reads up to {FORMAT}")


def _place(loc: Sequence[int | str], data: JsonObject) -> str:
    """Where a mistake is: `table a, row subject, column total: legibility`."""
    match loc:
        case ["table", name, "rows", row, "cells", int(number), *keys]:
            columns = data["table"][name].get("columns")
            column = columns[number] if isinstance(columns, list) and number < len(columns) else number + 1
            place = f"table {name}, row {row}, column {column}"
        case ["table", name, "rows", row, "cell", *keys]:
            place = f"table {name}, row {row}"
        case ["table", name, *keys]:
            place = f"table {name}"
        case ["system" | "improvement" as kind, int(number), "cells", *keys]:
            place = f"{kind} {data[kind][number].get('name', number + 1)}"
        case [str(kind), int(number), *keys]:
            place = f"{kind} {number + 1}"
        case [place, *keys]:
            pass
    return ": ".join([str(place), *(str(name) for name in keys if name != "printed")])


def _message(detail: ErrorDetails) -> str:
    if detail["type"] not in ("extra_forbidden", "unexpected_keyword_argument"):
        return describe_problem(detail)
    match detail["loc"]:
        case ["table", _, _]:
            keys = list(Table.model_fields)
        case ["identity", *_]:
            keys = [each.name for each in fields(Identity)]
        case _:
            keys = list(Cell.model_fields)
    return f"no such key{suggest(str(detail['loc'][-1]), keys)}"


def key(name: str) -> str:
    """A name as a key: `23.9` becomes `23_9`, `MTS500 (large records), EIS` becomes `mts500`."""
    return re.sub(r"\W+", "_", re.split(r"[(,/]", name)[0].strip()).strip("_").lower()
