"""The schema of meter reports: labels, units, tiers, meanings. `crates/cuesta-meters-report/src/tables.rs` declares it.

`python -m cuesta.records.schema` makes `meter_report.py` and the tables of docs/meters.md from it anew.
"""

import json
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cuesta import _native

TYPES = Path(__file__).with_name("meter_report.py")
DOCUMENTED = {
    "MeterReport": "",
    "Cpu": "cpu.",
    "Network": "network.",
    "Own": "own.",
    "Counts": "counts.",
    "Idle": "idle.",
    "Traffic": "traffic.",
    "Device": "devices.*.",
    "Interface": "interfaces.*.",
    "ByCause": "by_cause.",
    "CauseRow": "by_cause.causes.*.",
    "Sampling": "by_cause.about.",
    "Closure": "closure.",
}
"""Tables in docs/meters.md, with the path of their fields in a report."""
READ_AS_MAPS = {"Sampling"}
"""Tables of which records of other versions have other figures: Python has no types for them."""
UNITS = {
    "nanoseconds": "ns",
    "seconds": "s",
    "percent": "%",
    "number": "n",
    "ratio": "",
    "events": "n, n/s",
    "bytes_per_second": "B/s",
    "none": "",
}
HEAD = '''"""A report of the host's meters, typed. Times are seconds, shares percent, unless a field says otherwise.

Made by `python -m cuesta.records.schema` from `crates/cuesta-meters-report/src/tables.rs`: change that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuesta.records.meter_figure import MeterFigure
'''


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a table."""

    name: str
    kind: str
    """Its type: `int`, `Figure[float]`, `dict[str, Device]`, …"""
    label: str
    """The label in reports."""
    unit: str
    """A key of `UNITS`."""
    tier: str
    """The least tier that can give it."""
    meaning: str
    source: str
    """Its source, as Markdown."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the report, as one type."""

    meaning: str
    fields: dict[str, Field]


@cache
def tables() -> dict[str, Table]:
    """All tables by the names of their types, each after those that it refers to."""
    return {
        table["name"]: Table(
            table["meaning"],
            {
                each["name"]: Field(**{name if name != "type" else "kind": to for name, to in each.items()})
                for each in table["fields"]
            },
        )
        for table in json.loads(_native.meter_schema())
    }


def fields(table: str) -> dict[str, Field]:
    """The fields of a table by their names."""
    return tables()[table].fields


def types() -> str:
    """Write `meter_report.py`."""
    return HEAD + "".join(
        f"\n\n{''.join(_type(name, table))}" for name, table in tables().items() if name not in READ_AS_MAPS
    )


def _type(name: str, table: Table) -> Iterator[str]:
    yield f"@dataclass(frozen=True, slots=True)\nclass {name}:\n"
    yield _docstring(table.meaning) + "\n"
    for field in table.fields.values():
        yield f"    {field.name}: {annotation(field.kind)}\n{_docstring(sentence(field.meaning))}"


def annotation(kind: str) -> str:
    """Write a type in Python. A bool is None in a record that is older than its field."""
    if kind == "bool":
        return "bool | None"
    return kind.replace("list[", "Sequence[").replace("dict[", "Mapping[").replace("Figure[", "MeterFigure[")


def _docstring(text: str) -> str:
    quoted = f'"""{" ".join(text.split())}"""'
    return textwrap.fill(quoted, 120, initial_indent="    ", subsequent_indent="    ", break_long_words=False) + "\n"


def sentence(clause: str) -> str:
    """Write a meaning as a sentence; a name in backquotes keeps its case."""
    return f"{clause[0].upper()}{clause[1:]}."


def document(text: str) -> str:
    """Put the tables of docs/meters.md between their marks."""
    before, begin, rest = text.partition("<!-- figures -->\n")
    _, end, after = rest.partition("<!-- end -->")
    rows = [_row(place, field) for table, place in DOCUMENTED.items() for field in fields(table).values()]
    head = ["| figure | is | from | unit | tier |", "|---|---|---|---|---|"]
    written = "\n".join([*head, *filter(None, rows)])
    return f"{before}{begin}{written}\n{end}{after}"


def _row(place: str, field: Field) -> str | None:
    """A row of the documentation; none for a table with rows of its own, or for a field that is no figure."""
    if field.kind.removeprefix("dict[str, ").rstrip("]") in tables():
        return None
    return f"| `{place}{field.name}` | {field.meaning} | {field.source} | {UNITS[field.unit]} | {field.tier} |"


if __name__ == "__main__":
    TYPES.write_text(types(), encoding="utf-8")
    page = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/meters.md")
    page.write_text(document(page.read_text(encoding="utf-8")), encoding="utf-8")
