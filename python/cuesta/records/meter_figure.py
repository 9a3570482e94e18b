"""A figure of the meters, and how their reports are read from JSON and written to it.

A report has two forms on disk (docs/folder.md). In the full one a figure is `{"value", "tier"}` or `{"why"}`. In the
compact one, of the rows of a run, it is the value alone, and what is missing is left out. Both are read into the same
types; a field that an older record does not have is read as a figure without a value, or as empty.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

Value_co = TypeVar("Value_co", covariant=True)
Tier = Literal["plain", "sampled", "exact"]
UNRECORDED = "not recorded"


@dataclass(frozen=True, slots=True)
class MeterFigure(Generic[Value_co]):
    """A value with its tier, or the reason why there is none."""

    value: Value_co | None = None
    tier: Tier | None = None
    """None without a value, and in the compact form."""
    why: str | None = None


FIGURE = [field.name for field in fields(MeterFigure)]


def from_json(kind: Any, found: Any) -> Any:
    """Read a table of `cuesta.records.meter_report` from JSON of either form."""
    read: Reader = _reader(kind)
    return read(found)


def to_json(report: Any) -> dict[str, Any]:
    """The JSON object of a table in the full form."""
    return asdict(report, dict_factory=table_to_json)


def table_to_json(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make the object of a table, for `dataclasses.asdict`; a figure has its value and tier, or the reason."""
    names = [name for name, _ in pairs]
    if names == FIGURE:
        return {name: value for name, value in pairs if value is not None}
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in pairs}


Reader = Callable[[Any], Any]
"""Reads a value; None for one that is not there."""
EMPTY: dict[Any, Any] = {int: 0, float: math.nan, str: ""}
"""What stands for a number or text that is not there; None for others."""


@cache
def _reader(kind: Any) -> Reader:
    outer, inner = get_origin(kind), get_args(kind)
    if outer is MeterFigure:
        return _figure_reader(_reader(inner[0]))
    if outer is Mapping:
        of_item = _reader(inner[1])
        return lambda found: {name: of_item(each) for name, each in (found or {}).items()}
    if outer in (Sequence, tuple):
        of_item = _reader(inner[0])
        return lambda found: tuple(map(of_item, found or ()))
    if is_dataclass(kind):
        return _table_reader(kind)
    empty = EMPTY.get(kind)
    return lambda found: empty if found is None else found


def _figure_reader(of_value: Reader) -> Reader:
    unrecorded: MeterFigure[Any] = MeterFigure(why=UNRECORDED)

    def read(found: Any) -> MeterFigure[Any]:
        if found is None:
            return unrecorded
        if isinstance(found, dict):
            if "tier" in found:
                return MeterFigure(of_value(found["value"]), found["tier"])
            if found.keys() == {"why"}:
                return MeterFigure(why=found["why"])
        return MeterFigure(of_value(found))

    return read


def _table_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    readers = [(field.name, _reader(hints[field.name])) for field in fields(kind)]

    def read(found: Any) -> Any:
        get = (found or {}).get
        return kind(*(of_field(get(name)) for name, of_field in readers))

    return read
