"""Reads `goals.toml`: planned improvements, and systems measured elsewhere. docs/ledger.md describes it.

Numbers are kept as written; `cuesta.analysis.history` parses them.
"""

import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cuesta.errors import InputError
from cuesta.ledger.historical import FORMAT, check_format, read_toml
from cuesta.validation import describe_problem


def as_written(value: Any) -> Any:
    """A number as text, and a typed print as its text."""
    if isinstance(value, dict):
        return value.get("printed")
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Written = Annotated[str, BeforeValidator(as_written)]


class Entry(BaseModel):
    """A table of the file; unknown keys, such as those of typed prints, are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class System(Entry):
    """A measured system that has no certification folder."""

    name: str
    date: datetime.date
    elapsed: Written
    zero_idle: Written | None = Field(None, description="percent of the CPUs' time in which nothing was to do")
    brings: list[str] = Field([], description="names of the improvements that it has")


class Improvement(Entry):
    name: str
    date: Written = Field("", description="when; in any words")
    saves: Written = Field(description="percent of the time of what it touches, low-high: `10-12%`")
    touches: Written = Field("100%", description="percent of the elapsed time that it touches at all, low-high")
    in_benchmark: bool = Field(True, description="whether the benchmark exercises what it touches")
    came_with: str | None = Field(None, description="the certified system that has it")


class Goals(Entry):
    format: int = FORMAT
    title: str
    workload: str = ""
    plan: str | None = Field(None, description="name of the plan whose certifications belong here")
    unit: Literal["s", "min", "h"] = "s"
    base: str | None = Field(None, description="name of the system that others are percent of")
    goal: Written | None = Field(None, description="elapsed time to be reached")
    system: list[System] = []
    improvement: list[Improvement] = []


def read_goals(path: Path | str) -> Goals:
    """Raises InputError with a row for each mistake, which names its place."""
    path = Path(path)
    data = read_toml(path)
    check_format(path, data)
    if not data.get("system") and not data.get("improvement"):
        remedy = "cuesta ledger --check checks it" if "identity" in data else "docs/ledger.md shows such a file"
        raise InputError(f"{path}: no goals: there is neither [[system]] nor [[improvement]] in it", remedy)
    try:
        return Goals.model_validate({"title": path.stem, **data})
    except ValidationError as error:
        rows = [f"{path}: {'.'.join(map(str, detail['loc']))}: {describe_problem(detail)}" for detail in error.errors()]
        raise InputError("\n".join(rows), "docs/ledger.md shows such a file") from None
