"""The declaration of a figure, which stands beside its field: unit, better direction, label and meaning."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


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
    """Declares a figure, or a table of figures, beside its field: `errors: Annotated[int, About("…", Unit.COUNT)]`.

    A figure of a table is named `table.figure`, as in JSON.
    """

    meaning: str
    """A clause that says what the value is; `{}` stands for the meaning of the table that it is in."""
    unit: Unit | None = None
    """None for tables, texts and truth values."""
    label: str | None = None
    """Name for people, by default that of the field; `{}` stands for the label of the table."""
    better: Better | None = None
    """By default that of the table."""
    alias: str | None = None
    """A second name, which limits and `cuesta compare` have given it."""
    column: str | None = None
    """Column of the ledger's `steps`, by default the name with `_` for dots."""
    counter: bool = False
    """Whether it is what the driver's agents counted under this name (`series.jsonl`), merged."""
    sentence: bool = False
    """Whether it is text for people, whose words may change from version to version."""

    @property
    def published(self) -> str:
        """The meaning as documents have it: JSON says null for None."""
        return self.meaning.replace("{}: ", "").replace("None", "null")

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        said = {"description": self.published}
        return handler(core) | said | ({"unit": str(self.unit)} if self.unit else {})


class AnyJson:
    """Keeps a field's type out of the JSON Schema that pydantic makes: it has a schema of its own elsewhere."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {}
