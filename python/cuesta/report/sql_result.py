"""Writes results of SQL queries, and the list of tables, as text and as data."""

import datetime
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from cuesta.columns import align_left, align_right
from cuesta.ledger.database import SqlResult
from cuesta.ledger.tables import TABLES
from cuesta.plain_text import plain
from cuesta.terminal import Styled
from cuesta.units import ABSENT, many

MOST_WRAPPED = 500
"""More rows are not wrapped on a terminal either: wrapping takes a millisecond a row."""
UNBOUNDED = 1_000_000
"""A width, in columns, at which no cell is wrapped."""


def text(result: SqlResult) -> Styled:
    """Lay a result out for standard output: numbers to the right, words to the left.

    On a terminal sentences are wrapped if the table then fits. In a pipe each row of the result is one row of text.
    """
    console = Console(highlight=False)
    columns = [_Column.from_values(name, [row[at] for row in result.rows]) for at, name in enumerate(result.columns)]
    rows = _wrap_cells(columns, console) if console.is_terminal and len(result.rows) <= MOST_WRAPPED else None
    laid = [*(row.rstrip() for row in rows or _lay_out(columns)), many(len(result.rows), "row")]
    return Styled("\n".join(laid))


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    cells: Sequence[str]
    to_right: bool
    has_sentences: bool

    @classmethod
    def from_values(cls, name: str, values: Sequence[object]) -> Self:
        has_sentences = any(isinstance(value, str) and " " in value for value in values)
        return cls(plain(name), [write_cell(value) for value in values], all(map(is_number, values)), has_sentences)

    def laid(self) -> Iterator[str]:
        """Its name and cells, padded to the widest."""
        width = max(map(cell_len, (self.name, *self.cells)))
        pad = align_right if self.to_right else align_left
        return (pad(text, width) for text in (self.name, *self.cells))


def _lay_out(columns: Sequence[_Column]) -> Iterator[str]:
    return map("  ".join, zip(*(column.laid() for column in columns), strict=True))


def _wrap_cells(columns: Sequence[_Column], console: Console) -> Sequence[str] | None:
    """Rows that fit on the terminal; None if no wrapping makes them fit."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="" if console.no_color else "bold")
    for column in columns:
        justify: JustifyMethod = "right" if column.to_right else "left"
        table.add_column(Text(column.name), justify=justify, overflow="fold", no_wrap=not column.has_sentences)
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, cells))
    if Measurement.get(console, console.options.update(width=UNBOUNDED), table).minimum > console.width:
        return None
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()


def data(result: SqlResult) -> dict[str, Any]:
    return {
        "columns": result.columns,
        "rows": [[_plain_value(value) for value in row] for row in result.rows],
    }


def tables() -> str:
    return "\n".join(_tables())


def tables_data() -> dict[str, Any]:
    return {
        name: {
            "what": table.what,
            "columns": [{"name": each.name, "kind": each.kind, "what": each.what} for each in table.columns],
        }
        for name, table in TABLES.items()
    }


def _tables() -> Iterator[str]:
    for name, table in TABLES.items():
        yield f"{name}: {table.what}"
        yield from (f"  {each.name:<26} {each.kind:<10} {each.what}".rstrip() for each in table.columns)
        yield ""
    yield "Durations are seconds. What is not known is NULL, never 0. `join … using (folder)` goes from table to table."


def write_cell(value: object) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return plain(str(value).replace("\n", "; "))


def is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _plain_value(value: object) -> object:
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON cannot represent it
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
