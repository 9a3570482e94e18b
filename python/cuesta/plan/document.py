"""Writes the tables of docs/plan.md, `cli/verbs/flags.py` and `plan/keywords.py` from the schema of plans.

`--help` reads `cli/verbs/flags.py`, because importing the schema would make it slow. `python -m cuesta.plan.document
docs/plan.md` writes all.
"""

import json
import sys
import textwrap
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from cuesta.marked_tables import renew
from cuesta.plan.fields import Syntax
from cuesta.plan.load import SEVERAL
from cuesta.plan.published import PublishedFigure, PublishedTable
from cuesta.plan.schema import SHARED_BY_GROUPS, Group, Host, Secrets, Settings, Validity, flags

FLAGS = Path(__file__).parent.parent / "cli" / "verbs" / "flags.py"
FLAGS_HEAD = '''"""The flags of plan settings and of the built-in host: name → what the value is called, and the help.

Written by `python -m cuesta.plan.document` from the schema: change that.
"""'''

KEYWORDS = Path(__file__).parent / "keywords.py"
OF_FUNCTIONS = ("engine",)
"""Settings that are parameters of the library's functions: they take more than a plan can say."""
KEYWORDS_HEAD = '''"""The settings of a plan as keywords of the library, with the values of Python that they take.

Written by `python -m cuesta.plan.document` from the schema: change that.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypedDict


class PlanSettings(TypedDict, total=False):
    """Settings of a plan. Durations are timedeltas, numbers of seconds, or texts such as `200ms`."""
'''
OF_TABLES = {
    "limits": "Sequence[str]",
    "group": "Sequence[Mapping[str, object]]",
    **dict.fromkeys(("host", "validity", "secrets"), "Mapping[str, object]"),
    **dict.fromkeys(("published", "published_table"), "Sequence[Mapping[str, object]]"),
    "sweep": "Mapping[str, Sequence[object]]",
}
"""Types of settings that are tables or lists."""
MEANINGS = {
    "group": "groups of users, each with settings of its own",
    "host": "settings of the built-in host",
    "validity": "thresholds beyond which the run is invalid",
    "secrets": "what is secret of the users",
    "published": "published figures, to be shown beside the measured ones",
    "published_table": "published tables, to be shown beside the steps that repeat them",
}
"""Meanings of the tables, which have no description of their own."""

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
    "role": "`load` or `probe`",
    "bound": "`at least` or `at most`",
    "units": "a table of durations or numbers",
}
"""Settings whose type has no syntax of its own."""
WIDTH = 120
"""Characters of a row of code, which `ruff format` breaks if it is longer."""


def table(model: type[BaseModel]) -> str:
    defaults = model.model_construct().model_dump(mode="json")
    rows = [
        f"| `{name}` | {write_syntax(name, field)} | {default(defaults.get(name))} | {field.description} |"
        for name, field in model.model_fields.items()
        if field.description
    ]
    return "\n".join(["| setting | written | default | meaning |", "|---|---|---|---|", *rows])


def write_syntax(name: str, field: FieldInfo) -> str:
    if name in WRITTEN and not any(isinstance(each, Syntax) for each in field.metadata):
        return WRITTEN[name]
    return next(each.expected for each in syntaxes(field))


def syntaxes(field: FieldInfo) -> Iterator[Syntax]:
    inner = (getattr(arm, "__metadata__", ()) for arm in get_args(field.annotation))  # of `DistributionText | None`
    return (each for each in (*field.metadata, *chain(*inner)) if isinstance(each, Syntax))


def default(value: object) -> str:
    """A default in TOML."""
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def renew_document(text: str) -> str:
    """The text of docs/plan.md with all its tables written anew."""
    return renew(text, {name: table(model) for name, model in TABLES.items()})


def flags_module() -> str:
    """The text of `cli/verbs/flags.py`."""
    host = {name: (name.upper(), str(field.description)) for name, field in Host.model_fields.items()}
    tables = {"SETTINGS": flags(Group, Settings), "HOST": {**host, **flags(Host)}}
    return "\n\n".join([FLAGS_HEAD, *(_table_of_flags(name, table) for name, table in tables.items())]) + "\n"


def _table_of_flags(name: str, table: dict[str, tuple[str, str]]) -> str:
    rows = (_flag_row(quote(setting), quote(value), quote(meaning)) for setting, (value, meaning) in table.items())
    return "\n".join([f"{name}: dict[str, tuple[str, str]] = {{", *rows, "}"])


def _flag_row(setting: str, value: str, meaning: str) -> str:
    row = f"    {setting}: ({value}, {meaning}),"
    return row if len(row) <= WIDTH else f"    {setting}: (\n        {value},\n        {meaning},\n    ),"


def keywords_module() -> str:
    """The text of `plan/keywords.py`."""
    names = dict.fromkeys(("name", *SHARED_BY_GROUPS, *Settings.model_fields))
    fields = {name: Settings.model_fields.get(name) or Group.model_fields[name] for name in names}
    rows = [
        f"    {name}: {keyword_type(name, field)}\n    {docstring(str(field.description or MEANINGS[name]))}"
        for name, field in fields.items()
        if name not in OF_FUNCTIONS
    ]
    return "\n".join([KEYWORDS_HEAD, *rows]) + "\n"


def keyword_type(name: str, field: FieldInfo) -> str:
    """The types of Python that a keyword takes; a list of several values is a sweep."""
    if name in OF_TABLES:
        return OF_TABLES[name]
    kind = next(each.python for each in syntaxes(field))
    return f"{kind} | Sequence[{kind}]" if name in SEVERAL else kind


def docstring(text: str) -> str:
    """A docstring of one sentence, wrapped."""
    sentence = f'"""{text[:1].upper()}{text[1:]}."""'
    return "\n    ".join(textwrap.wrap(sentence, 112, break_long_words=False, break_on_hyphens=False))


def quote(text: str) -> str:
    """Write a string as Python does, in double quotes."""
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    FLAGS.write_text(flags_module(), encoding="utf-8")
    KEYWORDS.write_text(keywords_module(), encoding="utf-8")
    file = Path(sys.argv[1])
    file.write_text(renew_document(file.read_text(encoding="utf-8")), encoding="utf-8")
