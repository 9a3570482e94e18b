"""What is wrong with a plan, said so that it can be mended: file, table, what was expected, what came, what to do."""

import difflib
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cuesta.errors import InputError
from cuesta.plan.fields import show
from cuesta.plan.schema import Group, Host, Published, Settings, Validity

TABLES: dict[str, type[BaseModel]] = {
    "group": Group,
    "host": Host,
    "validity": Validity,
    "published": Published,
}


def plan_error(source: str, raw: Mapping[str, object], error: ValidationError) -> InputError:
    """One error for all faults of `raw`, a row for each."""
    rows = [f"{source}: {place(raw, fault['loc'])}: {message(fault)}" for fault in distinct(error)]
    return InputError("\n".join(dict.fromkeys(rows)), "all settings are described in docs/plan.md")


def distinct(error: ValidationError) -> list[ErrorDetails]:
    """The faults. Pydantic adds `too_short` to a list of which every group is bad: that one is left out."""
    faults = error.errors()
    return [fault for fault in faults if fault["type"] != "too_short" or len(faults) == 1]


def place(raw: Mapping[str, object], loc: Sequence[int | str]) -> str:
    """Spell where it is, groups by their names: `group.typists.think`."""
    path = [str(part) for part in loc]
    groups = raw.get("group")
    match loc:
        case ["group", int(index), *_] if isinstance(groups, list) and isinstance(groups[index], dict):
            name = groups[index].get("name")
            if name is None and len(groups) == 1:
                return ".".join(path[2:])  # the plan has no [[group]]: its settings stand at the top
            path[1] = str(name or index)
    return ".".join(path)


def message(fault: ErrorDetails) -> str:
    match fault["type"]:
        case "extra_forbidden":
            return "no such setting" + near(str(fault["loc"][-1]), _table(fault["loc"]).model_fields)
        case "model_type" | "dict_type" | "tuple_type" | "list_type":
            wanted = "a table" if fault["type"] in ("model_type", "dict_type") else "a list"
            return f"expected {wanted}, got {show(fault['input'])}"
        case "literal_error":
            return f"expected {fault['ctx']['expected']}, got {show(fault['input'])}"
        case "missing":
            return f"it has no `{fault['loc'][-1]}`"
        case "too_short" | "too_long":
            return "expected at most 256 figures" if fault["loc"][0] == "published" else "expected 1 to 256 groups"
        case _:
            return fault["msg"].removeprefix("Value error, ")


def near(word: str, words: Mapping[str, object] | Sequence[str]) -> str:
    """A hint: `; did you mean …?`, or the list of known words."""
    found = difflib.get_close_matches(word, list(words), n=1)
    return f"; did you mean `{found[0]}`?" if found else f"; there are {', '.join(words)}"


def _table(loc: Sequence[int | str]) -> type[BaseModel]:
    return TABLES.get(str(loc[0]), Settings) if len(loc) > 1 else Settings
