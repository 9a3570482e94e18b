"""Published figures of the same work, which a plan names so that they are shown beside the measured ones."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from cuesta.plan.fields import (
    FigureColumns,
    FigureNames,
    FigureText,
    Name,
    NumberText,
    Remark,
    RowSettings,
    Scale,
    SettingValues,
    TypedTableText,
    Users,
)
from cuesta.plan.typed_table import TypedTable


class PlanTable(BaseModel):
    """A table of a plan: immutable, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PublishedFigure(PlanTable):
    """A published figure of the same work, to be shown beside the measured one."""

    what: Remark = Field(description="what was measured, and under which conditions")
    figure: FigureText = Field(description="the figure that is compared with it, named as in `limits`")
    value: NumberText = Field(description="the published value; a duration if the figure is one")
    users: Users | None = Field(
        None, description="the number of users in the published measurement; by default it is compared with every step"
    )
    bound: Literal["at least", "at most"] | None = Field(None, description="if only a bound was published")
    source: Remark = Field(description="where it was published")

    @field_validator("value")
    @classmethod
    def _fits_the_figure(cls, value: str, info: ValidationInfo) -> str:
        if "figure" in info.data:
            info.data["figure"].read_value(value)
        return value

    @property
    def number(self) -> float:
        """The value in the figure's unit: seconds, a share or a number."""
        return self.figure.read_value(self.value)


class PublishedTable(PlanTable):
    """A table of published figures, to be shown beside the steps that repeat it."""

    table: TypedTableText = Field(
        description="the table, typed from a document ([ledger.md](ledger.md)); the file is relative to the plan"
    )
    when: SettingValues = Field(
        {},
        description="the settings of the steps that repeat it: as in `[sweep]`; by default all steps",
    )
    rows: RowSettings = Field(
        {},
        description="for each row to show, by its name in the typed table, the settings of the steps that repeat it; "
        "by default there is a row for each number of users",
    )
    users: Name = Field(
        "users", validate_default=True, description="the column with the number of users; not needed with `rows`"
    )
    columns: FigureColumns = Field(
        description="for each column to show the figure that is compared with it; several are added"
    )
    units: dict[str, Scale] = Field(
        {}, description="for columns in other units than their figures', what 1 stands for: `1ms`, or 1000 of them"
    )
    also: FigureNames = Field((), description="further figures to show beside them")

    @field_validator("rows")
    @classmethod
    def _rows_of_the_table(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        table = info.data.get("table")
        if table and (unknown := next((name for name in value if name not in table.names), None)):
            raise ValueError(f"the table has no row `{unknown}`; it has {', '.join(table.names)}")
        return value

    @field_validator("users")
    @classmethod
    def _of_numbers(cls, value: str, info: ValidationInfo) -> str:
        table = info.data.get("table")
        if table is None or info.data.get("rows"):
            return value
        _check_columns(table, [value])
        if words := [cell for cell in table.column(value) if not isinstance(cell, float | int)]:
            raise ValueError(f"its column `{value}` has {words[0]!r}, which is no number of users; name its `rows`")
        return value

    @field_validator("columns")
    @classmethod
    def _of_the_table(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if table := info.data.get("table"):
            _check_columns(table, value)
        return value


def _check_columns(table: TypedTable, names: Iterable[str]) -> None:
    if unknown := next((name for name in names if name not in table.columns), None):
        raise ValueError(f"the table has no column `{unknown}`; it has {', '.join(table.columns)}")
