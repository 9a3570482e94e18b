"""Merges the records and snapshots of several agents, as the driver merges those of its threads: exactly."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from cuesta._native import Histogram
from cuesta.records import schema
from cuesta.records.messages import Snapshot

Record = TypeVar("Record")


def merge_records(kind: type[Record], rows: Sequence[Record]) -> Record:
    """Merge records by the rules of their declaration: counts are added, unless it says otherwise.

    Without any row it is a record that has counted nothing.
    """
    hints = get_type_hints(kind)
    rules = schema.fields(kind.__name__)
    return kind(
        **{
            each.name: _merge_values(
                hints[each.name], rules[each.name.rstrip("_")].merge, [getattr(row, each.name) for row in rows]
            )
            for each in fields(kind)  # type: ignore[arg-type]
        }
    )


def _merge_values(kind: Any, rule: str, values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    if get_origin(kind) is UnionType:
        return _merge_values(get_args(kind)[0], rule, known) if known else None
    if kind in (int, float):
        return max(known, default=0) if rule == "max" else sum(known)
    if get_origin(kind) is Mapping:
        of_item = get_args(kind)[1]
        names = dict.fromkeys(name for value in known for name in value)
        return {name: _merge_values(of_item, rule, [value[name] for value in known if name in value]) for name in names}
    return known[0] if rule == "first" else merge_records(kind, known)


def add_histograms(encoded: Iterable[str | None]) -> Histogram | None:
    """Add up histograms of snapshots; None if there is none."""
    return Histogram.sum([Histogram.decode(text) for text in encoded if text])


def per_second(snapshots: Iterable[Snapshot], count: Callable[[Snapshot], float]) -> float:
    """How many a second all agents together counted in their last interval."""
    return sum(count(each) / each.length for each in snapshots if each.length)
