"""Reads records from JSON into their types, and merges those of several agents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from cuesta.records import schema
from cuesta.records.meter_figure import FIGURE, MeterFigure

Record = TypeVar("Record")
Reader = Callable[[Any], Any]


def from_json(kind: type[Record], found: Any) -> Record:
    """Read a record. What it lacks has its default, which stands for what earlier versions did not record.

    Raises KeyError where a field without a default is missing.
    """
    of_kind: Any = kind
    record: Record = _reader(of_kind)(found)
    return record


@cache
def _reader(kind: Any) -> Reader:
    outer, inner = get_origin(kind), get_args(kind)
    if outer is UnionType:
        return _reader(inner[0])
    if outer is MeterFigure:
        return _figure_reader(_reader(inner[0]))
    if outer is Mapping:
        of_item = _reader(inner[1])
        return lambda found: {name: of_item(each) for name, each in found.items()}
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
        values = {}
        for name, key, of_field, default in readers:
            if (value := found.get(key)) is not None:
                values[name] = of_field(value)
            elif default is MISSING and key not in found:
                raise KeyError(key)
            elif default is not MISSING:
                values[name] = default
            else:
                values[name] = None
        return kind(**values)

    return read


def _default(field: Any) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def merged(kind: type[Record], rows: Sequence[Record]) -> Record:
    """Merge records as the driver merges those of its threads: counts are added, of texts the first is taken.

    Without any row it is a record that has counted nothing.
    """
    hints = get_type_hints(kind)
    rules = schema.fields(kind.__name__)
    return kind(
        **{
            each.name: _merged(
                hints[each.name], rules[each.name.rstrip("_")].merge, [getattr(row, each.name) for row in rows]
            )
            for each in fields(kind)  # type: ignore[arg-type]
        }
    )


def _merged(kind: Any, rule: str, values: Sequence[Any]) -> Any:
    there = [value for value in values if value is not None]
    if get_origin(kind) is UnionType:
        return _merged(get_args(kind)[0], rule, there) if there else None
    if kind in (int, float):
        return max(there, default=0) if rule == "max" else sum(there)
    if get_origin(kind) is Mapping:
        of_item = get_args(kind)[1]
        names = dict.fromkeys(name for value in there for name in value)
        return {name: _merged(of_item, rule, [value[name] for value in there if name in value]) for name in names}
    return there[0] if rule == "first" else merged(kind, there)
