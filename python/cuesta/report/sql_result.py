"""Writes results of SQL queries, and the list of tables, as text and as data."""

import datetime
import math
from collections.abc import Iterator
from typing import Any

from cuesta.ledger.database import SqlResult
from cuesta.ledger.tables import TABLES
from cuesta.report.phrases import plain
from cuesta.units import ABSENT, many

WIDEST = 60
"""The most characters of a cell that are shown; `--csv` and `--json` have all."""


def text(result: SqlResult) -> str:
    """Lay a result out: numbers to the right, words to the left."""
    cells = [[_cell(value) for value in row] for row in result.rows]
    widths = [max(map(len, column)) for column in zip(result.columns, *cells, strict=True)]
    right = [all(_is_number(row[at]) for row in result.rows) for at in range(len(result.columns))]
    rows = [result.columns, ["-" * width for width in widths], *cells]
    laid = (
        "  ".join(_aligned(cell, width, to_right) for cell, width, to_right in zip(row, widths, right, strict=True))
        for row in rows
    )
    return "\n".join([*(row.rstrip() for row in laid), many(len(result.rows), "row")])


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
    cell = plain(str(value).replace("\n", "; "))
    return cell if len(cell) <= WIDEST else cell[: WIDEST - 1] + "…"


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _aligned(cell: str, width: int, to_right: bool) -> str:
    return f"{cell:>{width}}" if to_right else f"{cell:<{width}}"


def _plain_value(value: object) -> object:
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON cannot represent it
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
