"""Makes what is generated from the declarations of records: Python's types, a JSON Schema, the tables of documents.

`python -m cuesta.records.document docs` renews them in place; with `--check` it only says which are not fresh.
"""

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cuesta.marked_tables import renew
from cuesta.records.schema import Field, Table, fields, inner, list_needed, tables

HERE = Path(__file__).parent
MODULES = {
    "rows": (
        "TimelineFile",
        "SeriesRow",
        "UserRow",
        "TransactionRow",
        "KeyRow",
        "FollowedRow",
        "AgentEnd",
        "AgentNote",
        "WireRow",
        "NeighbourRow",
        "HostSeriesRow",
        "MeterRecord",
        "PathRecord",
        "LinkageRow",
        "RunnableRow",
        "KernelThreadsRow",
        "MarkRow",
        "WatcherRow",
    ),
    "messages": ("EngineMessage", "AgentMessage"),
    "meter_report": ("MeterReport",),
}
"""The module of each type; what it is made of is beside it, or in a module before it."""
ABOUT = {
    "rows": "The rows of a run folder (docs/folder.md). Instants are ns, times seconds.",
    "messages": "What agents and the engine tell each other. Instants are ns, times seconds.",
    "meter_report": "A report of the host's meters. Times are seconds, shares percent, unless a field says otherwise.",
}
READ_AS_MAPS = {"Sampling"}
"""Tables of which records of other versions have other figures: Python has no types for them."""
UNITS = {
    "nanoseconds": "ns",
    "seconds": "s",
    "percent": "%",
    "number": "n",
    "ratio": "",
    "events": "n, n/s",
    "bytes": "B",
    "bytes_per_second": "B/s",
    "unitless": "",
}
METER_DEFAULTS = {"int": "0", "float": "nan", "str": '""', "bool | None": "None"}
"""What stands for a value that a meter report lacks: older ones have fewer fields."""
DEFAULTS = {"none": "None", "true": "True", "false": "False", "{}": "field(default_factory=dict)", "[]": "()"}
METERS = {
    "MeterReport": "",
    "Cpu": "cpu.",
    "Network": "network.",
    "Own": "own.",
    "Counts": "counts.",
    "Idle": "idle.",
    "Limits": "limits.",
    "Traffic": "traffic.",
    "Device": "devices.*.",
    "Interface": "interfaces.*.",
    "ByCause": "by_cause.",
    "CauseRow": "by_cause.causes.*.",
    "Sampling": "by_cause.about.",
    "Closure": "closure.",
}
"""Tables in docs/meters.md, with the path of their fields in a report."""


def types(module: str) -> str:
    """Write a module of types."""
    own = [tables()[name] for name, home in homes().items() if home == module and name not in READ_AS_MAPS]
    body = "".join(f"\n\n{''.join(_type(table, module))}" for table in own)
    made_by = "Made by ./scripts/docs from the declarations in `crates/`: change those."
    return format_source(f'"""{ABOUT[module]}\n\n{made_by}\n"""\n\n{"".join(_imports(body, module))}{body}')


def homes() -> dict[str, str]:
    """The module of each table, each table after those that it refers to."""
    modules = dict[str, str]()
    for module, roots in MODULES.items():
        for root in roots:
            for name in list_needed(root):
                modules.setdefault(name, module)
    return modules


def _type(table: Table, module: str) -> Iterator[str]:
    base = f"({table.extends})" if table.extends else ""
    yield f"@dataclass(frozen=True, slots=True, kw_only=True)\nclass {table.name}{base}:\n"
    yield _docstring(table.meaning) + "\n"
    for field in table.fields.values():
        name = f"{field.name}_" if field.name == "in" else field.name
        yield f"    {name}: {annotation(field, module)}\n{_docstring(sentence(field.meaning))}"


def annotation(field: Field, module: str) -> str:
    """Write a field's type in Python, and its default."""
    kind = field.kind.replace("list[", "Sequence[").replace("dict[", "Mapping[").replace("Figure[", "MeterFigure[")
    if module == "meter_report":
        kind = "bool | None" if kind == "bool" else kind
        return f"{kind} = {_meter_default(kind)}"
    if field.default == "none" and not kind.endswith(" | None"):
        kind += " | None"
    return f"{kind} = {DEFAULTS.get(field.default, field.default)}" if field.default else kind


def _meter_default(kind: str) -> str:
    if kind.startswith("Mapping"):
        return DEFAULTS["{}"]
    if kind.startswith("Sequence"):
        return "()"
    if kind.startswith("MeterFigure"):
        return "ABSENT"
    return "None" if kind.endswith(" | None") else METER_DEFAULTS.get(kind, f"{kind}()")


def _imports(body: str, module: str) -> Iterator[str]:
    places = {
        "collections.abc": ("Mapping", "Sequence"),
        "dataclasses": ("dataclass", "field"),
        "math": ("nan",),
        "typing": ("Any",),
        "cuesta.records.meter_figure": ("ABSENT", "MeterFigure"),
    }
    for name, home in homes().items():
        if home != module:
            places[f"cuesta.records.{home}"] = (*places.get(f"cuesta.records.{home}", ()), name)
    for place, names in places.items():
        if used := [name for name in names if re.search(rf"(?<![\w.`]){name}[\[\](\n ]", body)]:
            in_order = sorted(used, key=lambda name: (not name.isupper(), name.lower()))
            yield f"from {place} import {', '.join(in_order)}\n"
        if place == "typing":
            yield "\n"


def _docstring(text: str) -> str:
    quoted = f'"""{" ".join(text.split())}"""'
    return textwrap.fill(quoted, 120, initial_indent="    ", subsequent_indent="    ", break_long_words=False) + "\n"


def sentence(clause: str) -> str:
    """Write a meaning as a sentence; a name in backquotes keeps its case."""
    return f"{clause[0].upper()}{clause[1:]}."


def format_source(source: str) -> str:
    """Lay a module out as ruff does."""
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "-"]
    return subprocess.run(ruff, input=source, capture_output=True, check=True, text=True).stdout


def markdown(table: str) -> str:
    """Describe a record, with the tables in it, as Markdown."""
    return "\n".join(["| field | unit | is |", "|---|---|---|", *_rows(table)])


def _rows(table: str, place: str = "") -> Iterator[str]:
    for field in fields(table).values():
        part = inner(field)
        yield f"| `{place}{field.name}` | {UNITS[field.unit]} | {field.meaning} |"
        if part and not field.kind.startswith("dict"):
            yield from _rows(part.name, f"{place}{field.name}{'[]' * field.kind.startswith('list')}.")


def meters() -> str:
    """The table of docs/meters.md: the figures of a meter report, without tables and what is no figure."""
    rows = (
        f"| `{place}{each.name}` | {each.meaning} | {each.source} | {UNITS[each.unit]} | {each.tier} |"
        for table, place in METERS.items()
        for each in fields(table).values()
        if each.kind.removeprefix("dict[str, ").rstrip("]") not in tables()
    )
    return "\n".join(["| figure | is | from | unit | tier |", "|---|---|---|---|---|", *rows])


def json_schema() -> str:
    """The JSON Schema of all records: `#/$defs/SeriesRow` describes a row of `series.jsonl`, and so on."""
    described = {
        name: {
            "description": table.meaning,
            "type": "object",
            "properties": {each.name: _describe_field(each) for each in fields(name).values()},
            "required": [each.name for each in fields(name).values() if not each.default],
        }
        for name, table in tables().items()
    }
    head = '{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Records of Cuesta", "$defs": {'
    rows = (f" {json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}" for name, each in described.items())
    return head + "\n" + ",\n".join(rows) + "\n}}\n"


def _describe_field(field: Field) -> dict[str, Any]:
    unit = {"unit": field.unit} if field.unit != "unitless" else {}
    default = {"default": json.loads(field.default.replace("none", "null"))} if field.default else {}
    return {"description": field.meaning, **unit, **default, **_shape(field.kind)}


def _shape(kind: str) -> dict[str, Any]:
    if kind.endswith(" | None"):
        return {"anyOf": [_shape(kind.removesuffix(" | None")), {"type": "null"}]}
    outer, bracket, rest = kind.partition("[")
    if kind == "Any":
        return {}
    if not bracket:
        names = {"int": "integer", "float": "number", "bool": "boolean", "str": "string"}
        return {"type": names[kind]} if kind in names else {"$ref": f"#/$defs/{kind}"}
    item = rest.removesuffix("]")
    match outer:
        case "dict":
            return {"type": "object", "additionalProperties": _shape(item.removeprefix("str, "))}
        case "Figure":
            full = {"type": "object", "properties": {"value": _shape(item), "tier": {"type": "string"}}}
            return {"anyOf": [full, {"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]}]}
        case _:
            return {"type": "array", "items": _shape(item.partition(",")[0])}


def make_files(docs: Path) -> dict[Path, str]:
    """Everything that is generated, by its file."""
    modules = {HERE / f"{module}.py": types(module) for module in MODULES}
    parts = {"meters": meters(), **{name: markdown(name) for name in tables()}}
    pages = {page: renew(page.read_text(encoding="utf-8"), parts) for page in (docs / "folder.md", docs / "meters.md")}
    return modules | pages | {docs / "records.schema.json": json_schema()}


def main(docs: str, check: str = "") -> None:
    """Write what is not fresh; with `check` exit with 1 and its names instead."""
    files = make_files(Path(docs))
    stale = {file: text for file, text in files.items() if not file.exists() or file.read_text() != text}
    if check and stale:
        sys.exit(f"not fresh, run ./scripts/docs: {', '.join(map(str, stale))}")
    for file, text in stale.items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
