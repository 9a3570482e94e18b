"""The declaration of a figure, which is its field's value in a table: meaning, unit, label and better direction."""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from enum import StrEnum
from typing import Annotated, Any, TypeVar, dataclass_transform

Table = TypeVar("Table")


class Unit(StrEnum):
    SECONDS = "s"
    MILLISECONDS = "ms"
    SHARE = "share"
    """A part of 1."""
    PERCENT = "percent"
    PER_SECOND = "per s"
    COUNT = "count"
    BYTES = "bytes"


class Better(StrEnum):
    """The direction in which a figure is better for the users of the host."""

    LESS = "less"
    MORE = "more"


@dataclass(frozen=True, slots=True)
class About:
    """What is declared of a figure, or of a table; the name of a figure in a table is `table.figure`, as in JSON."""

    meaning: str
    """A clause that says what the value is; `{}` stands for the meaning of the table that it is in."""
    unit: Unit | None = None
    """None for tables, texts and truth values."""
    label: str | None = None
    """Name for people, by default that of the field; `{}` stands for the label of the table."""
    better: Better | None = None
    """By default that of the table."""
    other_name: str | None = None
    """A second name, for limits and `cuesta compare`. (Type checkers take a field's `alias` for its argument.)"""
    column: str | None = None
    """Column of the ledger's `steps`, by default the name with `_` for dots."""
    counter: bool = False
    """Whether it is what the driver's agents counted under this name (`series.jsonl`), merged."""
    sentence: bool = False
    """Whether it is text for people, whose words may change from version to version."""

    @property
    def documented(self) -> str:
        """The meaning as documents have it: JSON says null for None."""
        return self.meaning.replace("{}: ", "").replace("None", "null")

    @property
    def json_schema(self) -> dict[str, Any]:
        """What a JSON Schema says of the field."""
        return {"description": self.documented} | ({"unit": str(self.unit)} if self.unit else {})

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return handler(core) | self.json_schema


class AnyJson:
    """Keeps a field's type out of the JSON Schema that pydantic makes: it has a schema of its own elsewhere."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {}


def declare(  # noqa: PLR0913, what is declared of a figure, and of its field
    meaning: str | About,
    unit: Unit | None = None,
    label: str | None = None,
    better: Better | None = None,
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    **about: Any,
) -> Any:
    """Declare a field of a table: `errors: int = declare("…", Unit.COUNT)`, or one that has the `About` of others."""
    if isinstance(meaning, str):
        meaning = About(meaning, unit, label, better, **about)
    return field(default=default, default_factory=default_factory, metadata={"about": meaning})


@dataclass_transform(frozen_default=True, field_specifiers=(declare,))
def figure_table(table: type[Table]) -> type[Table]:
    """Make a class with declared fields a frozen dataclass; the type of each field is annotated with its `About`."""
    for name, kind in table.__annotations__.items():
        table.__annotations__[name] = Annotated[kind, vars(table)[name].metadata["about"]]
    return dataclass(frozen=True, slots=True)(table)
