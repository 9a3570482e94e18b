"""Sections with published tables: measured figures, and in brackets the published ones."""

from collections.abc import Iterator

from cuesta import _native
from cuesta.analysis.published_tables import SECOND, TableBeside, UsersRow, tables_beside
from cuesta.analysis.summary import Summary
from cuesta.figures import CATALOGUE, Unit
from cuesta.report.figure import WRITTEN, head
from cuesta.report.model import Cell, Remark, Section, Table, Words
from cuesta.report.phrases import plain
from cuesta.units import ABSENT, count, digits, many, signed


def sections(summary: Summary) -> Iterator[Section]:
    for each in tables_beside(summary):
        title = plain(each.plan.table.title)
        yield Section(f"Published: {title}", [Remark(f"{title}{when(each)}"), table(each)], name="TABLE")


def table(of: TableBeside) -> Table:
    """A row for each number of users; further figures that no step has are left out."""
    also = [name for name in of.plan.also if any(row.also[name] is not None for row in of.rows)]
    heads: list[Cell] = [plain(of.plan.users), *(column_head(of, name) for name in of.plan.columns), *map(head, also)]
    rows = [
        (
            count(row.users),
            *(cell(of, row, name) for name in of.plan.columns),
            *(further(name, row.also[name]) for name in also),
        )
        for row in of.rows
    ]
    repeats = "; medians of the steps with so many users" if any(row.steps > 1 for row in of.rows) else ""
    without = f"; without {many(of.doubted, 'step')} in doubt" if of.doubted else ""
    return Table(heads, rows, f"in brackets: as published in {plain(of.plan.table.source)}{repeats}{without}")


def when(of: TableBeside) -> str:
    settings = ", ".join(f"{plain(name)} {plain(value)}" for name, value in of.plan.when.items())
    return f"; measured with {settings}" if settings else ""


def column_head(of: TableBeside, name: str) -> Words:
    """The document's name of a column with the unit of its numbers, and the meaning of what is measured."""
    figures = [CATALOGUE[each] for each in of.plan.columns[name]]
    label = plain(name)
    if figures[0].unit == Unit.PERCENT:
        label = f"%{label}"
    if figures[0].unit == Unit.SECONDS:
        label = f"{label}, {_native.show_duration(unit(of, name)).removeprefix('1')}"
    return Words(label, " ".join(figure.meaning for figure in figures))


def cell(of: TableBeside, row: UsersRow, name: str) -> str:
    """The measured number, and in brackets the published one, both as the document wrote them."""
    kind, value = CATALOGUE[of.plan.columns[name][0]].unit, row.measured[name]
    factor = SECOND / unit(of, name) if kind == Unit.SECONDS else 1.0
    write = percents if kind == Unit.PERCENT else digits
    measured = ABSENT if value is None else write(value * factor)
    return f"{measured} ({row.published[name] * factor:g})" if name in row.published else measured


def percents(value: float) -> str:
    """Write percents with two digits, whole ones from 10 on: published ones have no more."""
    return signed(f"{value:.{2 if value < 0.995 else 1 if value < 9.95 else 0}f}")


def unit(of: TableBeside, name: str) -> int:
    """What 1 stands for in a column of durations, ns."""
    return of.plan.units.get(name, SECOND)


def further(figure: str, value: float | None) -> str:
    return ABSENT if value is None else WRITTEN[CATALOGUE[figure].unit](value)
