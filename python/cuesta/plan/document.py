"""Writes the tables of docs/plan.md, and `cli/verbs/flags.py`, from the schema of plans.

`--help` reads `cli/verbs/flags.py`, because importing the schema would make it slow. `python -m cuesta.plan.document
docs/plan.md` writes both.
"""

import json
import sys
from itertools import chain
from pathlib import Path
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from cuesta.figures.document import renew
from cuesta.plan.fields import Syntax
from cuesta.plan.schema import Group, Host, PublishedFigure, PublishedTable, Secrets, Settings, Validity, flags

FLAGS = Path(__file__).parent.parent / "cli" / "verbs" / "flags.py"
FLAGS_HEAD = '''"""The flags of plan settings and of the built-in host: name → what the value is called, and the help.

Written by `python -m cuesta.plan.document` from the schema: change that.
"""'''

TABLES: dict[str, type[BaseModel]] = {
    "plan": Settings,
    "group": Group,
    "host": Host,
    "secrets": Secrets,
    "validity": Validity,
    "published": PublishedFigure,
    "published_table": PublishedTable,
}
WRITTEN = {
    "limits": "a list of limits",
    "sweep": "a table of lists",
    "input": "`canonical` or `raw`",
    "path": "`user` or `kernel`",
    "bound": "`at least` or `at most`",
    "units": "a table of durations or numbers",
}
"""Settings whose type has no syntax of its own."""


def table(model: type[BaseModel]) -> str:
    defaults = model.model_construct().model_dump(mode="json")
    rows = [
        f"| `{name}` | {written(name, field)} | {default(defaults.get(name))} | {field.description} |"
        for name, field in model.model_fields.items()
        if field.description
    ]
    return "\n".join(["| setting | written | default | meaning |", "|---|---|---|---|", *rows])


def written(name: str, field: FieldInfo) -> str:
    if name in WRITTEN:
        return WRITTEN[name]
    inner = (getattr(arm, "__metadata__", ()) for arm in get_args(field.annotation))  # of `DistributionText | None`
    return next(each.expected for each in (*field.metadata, *chain(*inner)) if isinstance(each, Syntax))


def default(value: object) -> str:
    """A default in TOML."""
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def renewed(text: str) -> str:
    """The text of docs/plan.md with all its tables written anew."""
    return renew(text, {name: table(model) for name, model in TABLES.items()})


def flags_module() -> str:
    """The text of `cli/verbs/flags.py`."""
    host = {name: (name.upper(), str(field.description)) for name, field in Host.model_fields.items()}
    tables = {"SETTINGS": flags(Group, Settings), "HOST": {**host, **flags(Host)}}
    return "\n\n".join([FLAGS_HEAD, *(_table_of_flags(name, table) for name, table in tables.items())]) + "\n"


def _table_of_flags(name: str, table: dict[str, tuple[str, str]]) -> str:
    rows = (
        f"    {quoted(setting)}: (\n        {quoted(value)},\n        {quoted(meaning)},\n    ),"
        for setting, (value, meaning) in table.items()
    )
    return "\n".join([f"{name}: dict[str, tuple[str, str]] = {{", *rows, "}"])


def quoted(text: str) -> str:
    """Write a string as Python does, in double quotes."""
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    FLAGS.write_text(flags_module(), encoding="utf-8")
    file = Path(sys.argv[1])
    file.write_text(renewed(file.read_text(encoding="utf-8")), encoding="utf-8")
