"""Writes results of SQL queries, and the list of tables, as text and as data."""

import datetime
import math
from collections.abc import Iterator
from typing import Any

from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from cuesta.ledger.database import SqlResult
from cuesta.ledger.tables import TABLES
from cuesta.report.phrases import plain
from cuesta.units import ABSENT, many

UNBOUNDED = 1_000_000
"""The width, in columns, of a table that is not wrapped."""


def text(result: SqlResult) -> str:
    """Lay a result out for standard output: numbers to the right, words to the left.

    Sentences are wrapped if the table then fits on the terminal. In a pipe each row of the result is one row of text.
    """
    console = Console(highlight=False)
    table = _table(result, "" if console.no_color else "bold")
    least = Measurement.get(console, console.options.update(width=UNBOUNDED), table).minimum
    console.width = console.width if console.is_terminal and least <= console.width else UNBOUNDED
    with console.capture() as captured:
        console.print(table)
    return "\n".join([*(row.rstrip() for row in captured.get().splitlines()), many(len(result.rows), "row")])


def _table(result: SqlResult, style_of_heads: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=style_of_heads)
    for at, name in enumerate(result.columns):
        values = [row[at] for row in result.rows]
        justify: JustifyMethod = "right" if all(map(_is_number, values)) else "left"
        has_sentences = any(isinstance(value, str) and " " in value for value in values)
        table.add_column(Text(plain(name)), justify=justify, overflow="fold", no_wrap=not has_sentences)
    for row in result.rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    return table


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


def _cell(value: object) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return plain(str(value).replace("\n", "; "))


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _plain_value(value: object) -> object:
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON cannot represent it
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
