"""Error messages about plans: the file, the setting, what was expected, what it has, and what to do."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cuesta.errors import InputError
from cuesta.plan.published import PublishedFigure, PublishedTable
from cuesta.plan.schema import Group, Host, Settings, Validity
from cuesta.validation import describe_problem, suggest

TABLES: dict[str, type[BaseModel]] = {
    "group": Group,
    "host": Host,
    "validity": Validity,
    "published": PublishedFigure,
    "published_table": PublishedTable,
}


def plan_error(source: str, raw: Mapping[str, object], error: ValidationError) -> InputError:
    """One error with a row for each setting of `raw` that is wrong."""
    rows = [f"{source}: {place(raw, detail['loc'])}: {message(detail)}" for detail in distinct(error)]
    return InputError("\n".join(dict.fromkeys(rows)), "all settings are described in docs/plan.md")


def distinct(error: ValidationError) -> list[ErrorDetails]:
    """What is wrong, without the `too_short` that pydantic adds for a list of groups if every group is bad."""
    details = error.errors()
    return [detail for detail in details if detail["type"] != "too_short" or len(details) == 1]


def place(raw: Mapping[str, object], loc: Sequence[int | str]) -> str:
    """The path of a setting, with groups by name: `group.typists.think`."""
    path = [str(part) for part in loc]
    groups = raw.get("group")
    match loc:
        case ["group", int(index), *_] if isinstance(groups, list) and isinstance(groups[index], dict):
            name = groups[index].get("name")
            if name is None and len(groups) == 1:
                return ".".join(path[2:])  # the plan has no [[group]]: its settings stand at the top
            path[1] = str(name or index)
    return ".".join(path)


def message(detail: ErrorDetails) -> str:
    match detail["type"]:
        case "extra_forbidden":
            return "no such setting" + suggest(str(detail["loc"][-1]), _table(detail["loc"]).model_fields)
        case "too_short" | "too_long":
            is_published = str(detail["loc"][0]).startswith("published")
            return "expected at most 256 of them" if is_published else "expected 1 to 256 groups"
        case _:
            return describe_problem(detail)


def _table(loc: Sequence[int | str]) -> type[BaseModel]:
    return TABLES.get(str(loc[0]), Settings) if len(loc) > 1 else Settings
