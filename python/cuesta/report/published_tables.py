"""Sections with published tables: measured figures, and in brackets the published ones."""

from collections.abc import Callable, Iterator

from cuesta import _native
from cuesta.analysis.planned import write_swept_value
from cuesta.analysis.published_tables import ComparedRow, ComparedTable, compare_tables
from cuesta.analysis.summary import Summary
from cuesta.figures import CATALOGUE, Unit
from cuesta.report.figure import WRITTEN, head
from cuesta.report.model import Cell, Remark, Section, Table, Words
from cuesta.units import ABSENT, count, digits, many, share, write_minus


def sections(summary: Summary) -> Iterator[Section]:
    for each in compare_tables(summary):
        title = each.plan.table.title
        yield Section(
            f"Published: {title}", [Remark(f"{title}{name_conditions(each)}"), published_table(each)], name="TABLE"
        )


def published_table(table: ComparedTable) -> Table:
    """Without columns that were not printed, and further figures that no step has."""
    given = [name for name in table.rows[0].given if any(row.given[name] is not None for row in table.rows)]
    also = [name for name in table.plan.also if any(row.also[name] is not None for row in table.rows)]
    names = [""] if table.plan.rows else []
    heads: list[Cell] = [*names, *given]
    heads += [*(column_head(table, name) for name in table.plan.columns), *map(head, also)]
    rows = [
        (
            *([row.name] if table.plan.rows else []),
            *(write_printed(row.given[name], count) for name in given),
            *(write_cell(table, row, name) for name in table.plan.columns),
            *(write_further(name, row.also[name]) for name in also),
        )
        for row in table.rows
    ]
    which = "that repeat the row" if table.plan.rows else "with so many users"
    repeats = f"; medians of the steps {which}" if any(row.steps > 1 for row in table.rows) else ""
    without = f"; without {many(table.doubted, 'step')} in doubt" if table.doubted else ""
    caption = f"in brackets: as published in {table.plan.table.source}{repeats}{without}"
    # Named rows have more columns of the document: a terminal has no room for further ones.
    wide = range(len(heads) - len(also), len(heads)) if table.plan.rows else ()
    return Table(heads, rows, caption, wide=wide)


def name_conditions(table: ComparedTable) -> str:
    settings = ", ".join(f"{name} {write_swept_value(name, value)}" for name, value in table.plan.when.items())
    return f"; measured with {settings}" if settings else ""


def column_head(table: ComparedTable, name: str) -> Words:
    """The document's name of a column with its unit, and the meaning of the measured figure."""
    figures = [CATALOGUE[each] for each in table.plan.columns[name]]
    label = f"%{name}" if figures[0].unit == Unit.PERCENT else name
    if figures[0].unit == Unit.SECONDS:
        label = f"{label}, {_native.show_duration(round(1e9 * table.plan.units.get(name, 1.0))).removeprefix('1')}"
    return Words(label, " ".join(figure.meaning for figure in figures))


def write_cell(table: ComparedTable, row: ComparedRow, name: str) -> str:
    """The measured number and in brackets the published one, both in the document's format."""
    write = MEASURED.get(CATALOGUE[table.plan.columns[name][0]].unit, digits)
    value, published = row.measured[name], row.published.get(name)
    measured = ABSENT if value is None else write(value)
    return measured if published is None else f"{measured} ({write_printed(published, '{:g}'.format)})"


def write_printed(cell: float | str | None, write: Callable[[float], str]) -> str:
    return ABSENT if cell is None else cell if isinstance(cell, str) else write(cell)


def write_percents(value: float) -> str:
    """Percent with two digits, whole from 10 on."""
    return write_minus(f"{value:.{2 if value < 0.995 else 1 if value < 9.95 else 0}f}")


MEASURED = {Unit.PERCENT: write_percents, Unit.SHARE: share}
"""How measured values are written where it is not with three digits."""


def write_further(figure: str, value: float | None) -> str:
    return ABSENT if value is None else WRITTEN[CATALOGUE[figure].unit](value)
