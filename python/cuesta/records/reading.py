"""Reads records from JSON into their types, and makes rows of JSON of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from cuesta.records.meter_figure import FIGURE, MeterFigure

Record = TypeVar("Record")
Reader = Callable[[Any], Any]


def from_json(kind: type[Record], content: Any) -> Record:
    """Read a record. A field that earlier versions did not record gets its default.

    Raises KeyError where a field without a default is missing, and TypeError where an object is expected.
    """
    of_kind: Any = kind
    record: Record = _reader(of_kind)(content)
    return record


def to_row(record: Any) -> dict[str, Any]:
    """The object of a row: fields that are None are left out, but not in the tables within it."""
    return {name: value for name, value in asdict(record).items() if value is not None}


def to_json(record: Any) -> str:
    """A record, or what is made of records, as compact JSON that `from_json` reads."""
    return json.dumps(record, default=_object_of, separators=(",", ":"))


def _object_of(record: Any) -> Any:
    if is_dataclass(record):
        return {each.name.rstrip("_"): getattr(record, each.name) for each in fields(record)}
    return dict(record) if isinstance(record, Mapping) else list(record)


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
        return lambda content: {name: of_item(each) for name, each in _object(content).items()}
    if outer in (Sequence, tuple):
        of_item = _reader(inner[0])
        return lambda content: tuple(map(of_item, content))
    return _table_reader(kind) if is_dataclass(kind) else lambda content: content


def _figure_reader(of_value: Reader) -> Reader:
    """Read a figure of either form: with its tier, or the value alone."""

    def read(content: Any) -> MeterFigure[Any]:
        if isinstance(content, dict) and content.keys() & set(FIGURE) and content.keys() <= set(FIGURE):
            value = content.get("value")
            return MeterFigure(None if value is None else of_value(value), content.get("tier"), content.get("why"))
        return MeterFigure(of_value(content))

    return read


def _table_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    readers = [(each.name, each.name.rstrip("_"), _reader(hints[each.name]), _default(each)) for each in fields(kind)]

    def read(content: Any) -> Any:
        values, row = {}, _object(content)
        for name, key, of_field, default in readers:
            value = row.get(key) if default is not MISSING else row[key]
            values[name] = of_field(value) if value is not None else None if default is MISSING else default
        return kind(**values)

    return read


def _object(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise TypeError("expected an object")
    return content


def _default(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()
