"""The catalogue: every number that a step gives, by its dotted name, read from where it is declared."""

import dataclasses
from collections.abc import Container, Iterator
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from cuesta.figures.about import About, Better, Unit
from cuesta.figures.durations import Distribution
from cuesta.figures.step import StepFigures
from cuesta.records import rows, schema
from cuesta.records.meter_report import MeterReport

UNITS = {"number": Unit.COUNT, "seconds": Unit.SECONDS, "bytes": Unit.BYTES}
"""Units of records as those of figures."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a step."""

    path: tuple[str, ...]
    """Its place in the `--json` object: `("response", "p95")`."""
    unit: Unit
    better: Better | None
    """None where neither more nor less is better."""
    label: str
    """Its name for people: `response p95`."""
    meaning: str
    """One sentence."""
    alias: str
    """The name that limits and `cuesta compare` use: most figures have only one."""
    column: str
    """Its column in the ledger's table of steps."""

    @property
    def name(self) -> str:
        """`response.p95`."""
        return ".".join(self.path)

    def take_from(self, step: StepFigures) -> float | None:
        """Take the figure from a step; None where it was not measured."""
        value: Any = step
        for part in self.path:
            value = getattr(value, part, None)
        return None if value is None else float(value)


def list_fields(table: type) -> Iterator[tuple[str, type, About]]:
    """List the fields of a table of figures: name, type without None, and what is declared of it."""
    hints = get_type_hints(table, include_extras=True)
    recorded = recorded_fields(table)
    for field in dataclasses.fields(table):
        kind, about = split_hint(hints[field.name])
        yield field.name, kind, about or about_record(recorded[field.name])


def split_hint(hint: Any) -> tuple[Any, About | None]:
    """Split `Annotated[int | None, About(…)]` into `int` and what it says; None if it says nothing."""
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    about = next((note for note in notes if isinstance(note, About)), None)
    if get_origin(kind) in {Union, UnionType}:
        (kind,) = (arm for arm in get_args(kind) if arm is not NoneType)
    return kind, about


def recorded_fields(table: type) -> dict[str, schema.Field]:
    """What Rust declares of a table that is a record, or extends one."""
    records = [base.__name__ for base in table.__mro__ if base.__module__ == rows.__name__]
    return {name: field for record in records for name, field in schema.fields(record).items()}


def about_record(field: schema.Field) -> About:
    """What the declaration of a record's field says of it as a figure."""
    return About(field.meaning, UNITS.get(field.unit), field.label or None)


def list_figures(table: type, place: tuple[str, ...] = (), within: About | None = None) -> Iterator[Figure]:
    """List the numbers of a table and of the tables in it."""
    for name, kind, about in list_fields(table):
        path = (*place, name)
        at = ".".join(path)
        inner = complete_about(about, name, within)
        if is_table(kind):
            yield from list_figures(kind, path, inner)
        elif about.unit:
            yield Figure(
                path,
                about.unit,
                inner.better,
                inner.label or at,
                f"{inner.meaning[:1].upper()}{inner.meaning[1:]}.",
                about.other_name or at,
                about.column or "_".join(path),
            )


def is_table(kind: Any) -> bool:
    """Whether a type is a table of figures; a meter report is none, since it has a schema of its own."""
    return dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind is not MeterReport


def is_distribution(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Distribution)


def list_declared(table: type, whole: Container[type] = (), place: str = "") -> Iterator[tuple[str, type, About]]:
    """List the fields of a table and of the tables in it, by dotted name; tables in `whole` count as one field."""
    for field, kind, about in list_fields(table):
        if is_table(kind) and kind not in whole:
            yield from list_declared(kind, whole, f"{place}{field}.")
        else:
            yield f"{place}{field}", kind, about


def list_sentences(table: type) -> list[str]:
    """List the names of the sentences in a table and in the tables in it."""
    return [name.rpartition(".")[2] for name, _, about in list_declared(table) if about.sentence]


def complete_about(about: About, name: str, within: About | None) -> About:
    """Complete what is declared of a field by what is declared of its table."""
    outer = within.label if within else None
    plain = name.replace("_", " ")
    label = about.label or (f"{outer} {plain}" if outer else plain if about.unit else None)
    return dataclasses.replace(
        about,
        label=label.replace("{}", outer or "") if label else None,
        better=about.better or (within.better if within else None),
        meaning=about.meaning.replace("{}", within.meaning if within else ""),
    )


CATALOGUE = {figure.name: figure for figure in list_figures(StepFigures)}
"""Every number of a step by its name."""

BY_NAME = CATALOGUE | {figure.alias: figure for figure in CATALOGUE.values() if figure.alias not in CATALOGUE}
"""Every number of a step by its name and by its alias."""

COUNTERS = tuple(name for name, _, about in list_fields(StepFigures) if about.counter)
"""Figures that are sums of what the driver counted."""

DURATIONS = tuple(name for name, kind, _ in list_fields(StepFigures) if is_distribution(kind))
"""Distributions of which a limit may name any percentile, and a class of transactions."""
