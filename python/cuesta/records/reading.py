"""Reads records from JSON into their types, and makes rows of JSON of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from cuesta.records.meter_figure import FIGURE, MeterFigure

Record = TypeVar("Record")
Reader = Callable[[Any], Any]


def from_json(kind: type[Record], found: Any) -> Record:
    """Read a record. What it lacks has its default, which stands for what earlier versions did not record.

    Raises KeyError where a field without a default is missing, and TypeError where an object is expected.
    """
    of_kind: Any = kind
    record: Record = _reader(of_kind)(found)
    return record


def to_row(record: Any) -> dict[str, Any]:
    """The object of a row: fields that are None are left out, but not in the tables within it."""
    return {name: value for name, value in asdict(record).items() if value is not None}


@cache
def _reader(kind: Any) -> Reader:
    outer, inner = get_origin(kind), get_args(kind)
    if outer is UnionType:
        of_value = _reader(inner[0])
        return lambda found: None if found is None else of_value(found)
    if outer is MeterFigure:
        return _figure_reader(_reader(inner[0]))
    if outer is Mapping:
        of_item = _reader(inner[1])
        return lambda found: {name: of_item(each) for name, each in _object(found).items()}
    if outer in (Sequence, tuple):
        of_item = _reader(inner[0])
        return lambda found: tuple(map(of_item, found))
    return _table_reader(kind) if is_dataclass(kind) else lambda found: found


def _figure_reader(of_value: Reader) -> Reader:
    """Read a figure of either form: with its tier, or the value alone."""

    def read(found: Any) -> MeterFigure[Any]:
        if isinstance(found, dict) and found.keys() & set(FIGURE) and found.keys() <= set(FIGURE):
            value = found.get("value")
            return MeterFigure(None if value is None else of_value(value), found.get("tier"), found.get("why"))
        return MeterFigure(of_value(found))

    return read


def _table_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    readers = [(each.name, each.name.rstrip("_"), _reader(hints[each.name]), _default(each)) for each in fields(kind)]

    def read(found: Any) -> Any:
        values, row = {}, _object(found)
        for name, key, of_field, default in readers:
            value = row.get(key) if default is not MISSING else row[key]
            values[name] = of_field(value) if value is not None else None if default is MISSING else default
        return kind(**values)

    return read


def _object(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise TypeError("expected an object")
    return found


def _default(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()
