"""Published tables, each with what was measured at the same numbers of users and at others."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import median

from cuesta.analysis.planned import published_tables
from cuesta.analysis.summary import Summary
from cuesta.figures import CATALOGUE, Unit
from cuesta.figures.step import StepFigures
from cuesta.plan.schema import PublishedTable
from cuesta.plan.sweep import setting_at

SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class UsersRow:
    """One number of users. A figure is the median of its steps; None if a step lacks it, or none was made."""

    users: int
    steps: int
    measured: Mapping[str, float | None]
    """By column of the table, in the unit of its figure."""
    published: Mapping[str, float]
    """The same as published; empty for other numbers of users."""
    also: Mapping[str, float | None]
    """Further figures by name."""


@dataclass(frozen=True, slots=True)
class TableBeside:
    """A published table and what was measured."""

    plan: PublishedTable
    rows: Sequence[UsersRow]
    doubted: int
    """Steps that repeat it and do not count, because they are in doubt."""


def tables_beside(summary: Summary) -> list[TableBeside]:
    """Put every published table of the plan beside the steps that repeat it and are in no doubt."""
    plan = summary.recorded.plan
    made = [step for step in summary.steps if step.seconds]
    sure = {step.step for step in summary.undoubted}
    tables = published_tables(summary.recorded)
    return [beside(each, [step for step in made if repeats(each, step, plan)], sure) for each in tables]


def repeats(table: PublishedTable, step: StepFigures, plan: Mapping[str, object]) -> bool:
    return all(setting_at(step.swept, plan, name) == value for name, value in table.when.items())


def beside(plan: PublishedTable, steps: Sequence[StepFigures], sure: Set[int]) -> TableBeside:
    """A row for each number of users that was published or measured; only the steps in `sure` count."""
    counted = [step for step in steps if step.step in sure]
    place = plan.table.columns.index(plan.users)
    published = {round(row[place]): row for row in plan.table.rows}
    users = sorted({*published, *(step.users for step in steps)})
    return TableBeside(
        plan,
        [row(plan, number, published.get(number), [s for s in counted if s.users == number]) for number in users],
        doubted=len(steps) - len(counted),
    )


def row(plan: PublishedTable, users: int, published: Sequence[float] | None, steps: Sequence[StepFigures]) -> UsersRow:
    at = {name: plan.table.columns.index(name) for name in plan.columns}
    return UsersRow(
        users,
        len(steps),
        {name: middle(figures, steps) for name, figures in plan.columns.items()},
        {name: in_unit(plan, name, published[place]) for name, place in at.items()} if published else {},
        {name: middle([name], steps) for name in plan.also},
    )


def middle(figures: Sequence[str], steps: Sequence[StepFigures]) -> float | None:
    """The median over steps of a sum of figures."""
    values = [[CATALOGUE[name].of(step) for name in figures] for step in steps]
    sums = [sum(value for value in each if value is not None) for each in values if None not in each]
    return median(sums) if sums and len(sums) == len(steps) else None


def in_unit(plan: PublishedTable, column: str, value: float) -> float:
    """A published number in the unit of the column's figure."""
    if CATALOGUE[plan.columns[column][0]].unit == Unit.SECONDS:
        return value * plan.units.get(column, SECOND) / SECOND
    return value
