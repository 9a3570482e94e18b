"""What is recorded, as Rust declares it: tables of fields with units, labels and meanings.

The declarations are `record!` and `table!` in `crates/`; `cuesta.records.document` makes types and documents from them.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from cuesta import _native


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a table."""

    name: str
    kind: str
    """Its type: `int`, `Figure[float]`, `dict[str, Device]`, …"""
    unit: str
    """`seconds`, `percent`, …; `unitless` for texts, truth values and tables."""
    meaning: str
    default: str
    """What stands for it where it is missing, as `0` or `none`; empty if it must be there."""
    merge: str
    """How the values of threads and agents are merged: `max`, or `first` of each name; empty for the sum."""
    label: str
    """The label in reports."""
    tier: str
    """The least tier of the meters that can give it."""
    source: str
    """What meters read it from, as Markdown."""


@dataclass(frozen=True, slots=True)
class Table:
    """The fields of one type."""

    name: str
    meaning: str
    extends: str
    """The table whose fields it has, too; empty for none."""
    fields: dict[str, Field]


@cache
def tables() -> dict[str, Table]:
    """All tables by the names of their types, each after those that it refers to."""
    return {table["name"]: _table(**table) for table in json.loads(_native.schema())}


def _table(name: str, meaning: str, extends: str, fields: list[dict[str, str]]) -> Table:
    return Table(name, meaning, extends, {each["name"]: Field(kind=each.pop("type"), **each) for each in fields})


def fields(table: str) -> dict[str, Field]:
    """The fields of a table by their names, after those of the table that it extends."""
    own = tables()[table]
    return own.fields | (fields(own.extends) if own.extends else {})


def inner(field: Field) -> Table | None:
    """The table that a field holds: itself, or in lists, by name or where there is one."""
    return next((tables()[name] for name in re.findall(r"\w+", field.kind) if name in tables()), None)


def list_needed(table: str) -> Iterator[str]:
    """The tables that a table is made of, each after those that it refers to; itself last."""
    own = tables()[table]
    if own.extends:
        yield from list_needed(own.extends)
    for field in own.fields.values():
        if part := inner(field):
            yield from list_needed(part.name)
    yield table
