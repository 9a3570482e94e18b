"""Published tables beside the figures of the steps that repeat them."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import median

from cuesta.analysis.planned import read_published_tables
from cuesta.analysis.summary import Summary
from cuesta.figures import CATALOGUE
from cuesta.figures.step import StepFigures
from cuesta.plan.published import PublishedTable
from cuesta.plan.sweep import setting_at
from cuesta.plan.typed_table import Cell


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One row. A figure is the median of its steps; None if a step lacks it, or none was made."""

    name: str
    """Its name in the typed table; empty in a table by numbers of users."""
    given: Mapping[str, Cell]
    """What identifies it: the number of users, or the published cells of columns that no figure is compared with."""
    steps: int
    measured: Mapping[str, float | None]
    """By column of the table, in the table's unit."""
    published: Mapping[str, Cell]
    """The same as published; empty for other numbers of users."""
    also: Mapping[str, float | None]
    """Further figures by name."""


@dataclass(frozen=True, slots=True)
class ComparedTable:
    plan: PublishedTable
    rows: Sequence[ComparedRow]
    doubted: int
    """Steps that repeat it and do not count, because they are in doubt."""


def compare_tables(summary: Summary) -> list[ComparedTable]:
    """Put every published table of the plan beside the steps that repeat it and are in no doubt."""
    plan = summary.recorded.plan
    made = [step for step in summary.steps if step.seconds]
    undoubted = {step.step for step in summary.undoubted}
    return [compare_table(each, plan, made, undoubted) for each in read_published_tables(summary.recorded)]


def compare_table(
    table: PublishedTable, plan: Mapping[str, object], made: Sequence[StepFigures], undoubted: Set[int]
) -> ComparedTable:
    """The rows that the plan names, else one for each number of users; only the steps in `undoubted` count."""
    steps = select_repeats(table.when, made, plan)
    rows = named_rows(table, plan, steps, undoubted) if table.rows else rows_by_users(table, steps, undoubted)
    if table.rows:
        steps = [step for step in steps if any(select_repeats(each, [step], plan) for each in table.rows.values())]
    return ComparedTable(table, rows, doubted=sum(step.step not in undoubted for step in steps))


def select_repeats(
    settings: Mapping[str, str], steps: Sequence[StepFigures], plan: Mapping[str, object]
) -> list[StepFigures]:
    return [
        step for step in steps if all(setting_at(step.swept, plan, name) == value for name, value in settings.items())
    ]


def named_rows(
    table: PublishedTable, plan: Mapping[str, object], steps: Sequence[StepFigures], undoubted: Set[int]
) -> list[ComparedRow]:
    given = [name for name in table.table.columns if name not in table.columns]
    rows = []
    for name, settings in table.rows.items():
        published = dict(zip(table.table.columns, table.table.rows[table.table.names.index(name)], strict=True))
        counted = [step for step in select_repeats(settings, steps, plan) if step.step in undoubted]
        rows.append(make_row(table, name, {each: published[each] for each in given}, published, counted))
    return rows


def rows_by_users(table: PublishedTable, steps: Sequence[StepFigures], undoubted: Set[int]) -> list[ComparedRow]:
    """A row for each number of users that was published or measured."""
    columns = table.table.columns
    rows = [dict(zip(columns, each, strict=True)) for each in table.table.rows]
    published = {round(number): each for each in rows if isinstance(number := each[table.users], float | int)}
    counted = [step for step in steps if step.step in undoubted]
    return [
        make_row(table, "", {table.users: users}, published.get(users, {}), [s for s in counted if s.users == users])
        for users in sorted({*published, *(step.users for step in steps)})
    ]


def make_row(
    table: PublishedTable,
    name: str,
    given: Mapping[str, Cell],
    published: Mapping[str, Cell],
    steps: Sequence[StepFigures],
) -> ComparedRow:
    return ComparedRow(
        name,
        given,
        len(steps),
        {column: measured_value(table, column, steps) for column in table.columns},
        {column: published[column] for column in table.columns if column in published},
        {figure: median_of_sums([figure], steps) for figure in table.also},
    )


def measured_value(table: PublishedTable, column: str, steps: Sequence[StepFigures]) -> float | None:
    value = median_of_sums(table.columns[column], steps)
    return None if value is None else value / table.units.get(column, 1.0)


def median_of_sums(figures: Sequence[str], steps: Sequence[StepFigures]) -> float | None:
    values = [[CATALOGUE[name].take_from(step) for name in figures] for step in steps]
    sums = [sum(value for value in each if value is not None) for each in values if None not in each]
    return median(sums) if sums and len(sums) == len(steps) else None
