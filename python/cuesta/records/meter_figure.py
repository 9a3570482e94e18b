"""A figure of the meters, and how their reports are written as JSON.

A report has two forms on disk (docs/folder.md). In the full one a figure is `{"value", "tier"}` or `{"why"}`. In the
compact one, of the rows of a run, it is the value alone, and what is missing is left out. Both are read into the same
types; a field that an older record does not have is read as a figure without a value, or as empty.
"""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Generic, Literal, TypeVar

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
ABSENT: MeterFigure[Any] = MeterFigure(why=UNRECORDED)
"""A figure that a record lacks."""


def to_json(report: Any) -> dict[str, Any]:
    """The JSON object of a table in the full form."""
    return asdict(report, dict_factory=table_to_json)


def table_to_json(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make the object of a table, for `dataclasses.asdict`; a figure has its value and tier, or the reason."""
    names = [name for name, _ in pairs]
    if names == FIGURE:
        return {name: value for name, value in pairs if value is not None}
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in pairs}
