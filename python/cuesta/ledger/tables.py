"""The tables of the ledger's database: for each column its type, its meaning, and where its value is taken from.

Tables of figures have a column for each figure of the catalogue. docs/ledger.md lists all columns.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args, get_origin

from cuesta.figures.catalogue import list_declared
from cuesta.figures.durations import TransactionClass
from cuesta.figures.step import LimitResult, PublishedComparison, StepFigures
from cuesta.figures.system_under_test import HostFigures
from cuesta.figures.watching import MarkFigures
from cuesta.ledger.record import RecordFigure, RunRow

TEXT, WHOLE, NUMBER, TRUTH = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"
NO_OTHERS: Mapping[str, str] = {}
KINDS: Mapping[Any, str] = {str: TEXT, int: WHOLE, float: NUMBER, bool: TRUTH, RecordFigure: NUMBER}


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: str
    """DuckDB's name of its type."""
    what: str
    path: str
    """Where the value is taken from: names of attributes or keys, separated by dots."""

    def take_from(self, row: Any) -> object:
        """The column's value in `row`; None if a part of the path is None or missing."""
        for name in self.path.split("."):
            row = row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)
        match row:
            case RecordFigure():
                return row.value
            case Mapping():
                return json.dumps(dict(row), ensure_ascii=False)
            case list():
                return "\n".join(map(str, row))
            case _:
                return row


class SqlTable(NamedTuple):
    what: str
    columns: tuple[Column, ...]

    def make_row(self, source: Any) -> dict[str, object]:
        """Make a row of an object, without the columns that have no path."""
        return {each.name: each.take_from(source) for each in self.columns if each.path}


def column(name: str, kind: str, what: str, path: str | None = None) -> Column:
    """Declare a column. The path is by default its name; with an empty path the caller fills it in."""
    return Column(name, kind, what, name if path is None else path)


def columns_of(table: type, names: Mapping[str, str] = NO_OTHERS) -> Iterator[Column]:
    """Make a column of each figure in a table of the catalogue and its inner tables; `names` renames some.

    Several hosts are none of its figures: each has a row of its own.
    """
    for at, kind, about in list_declared(table):
        is_mapping = issubclass(get_origin(kind) or kind, Mapping) and HostFigures not in get_args(kind)
        if kind in KINDS or is_mapping:
            name = names.get(at) or about.column or at.replace(".", "_")
            unit = f" ({about.unit})" if about.unit else ""
            yield Column(name, KINDS.get(kind, TEXT), f"{about.documented}{unit}", at)


def run_columns(names: Mapping[str, str]) -> Iterator[Column]:
    """Make a column of each field of a certification's run."""
    for name, field in RunRow.model_fields.items():
        yield Column(names.get(name, name), KINDS[field.annotation], field.description or "", name)


FOLDER = column("folder", TEXT, "the run folder", "")
STEP_MEANING = "number of the step, counted from 0 (texts count from 1)"
STEP = column("step", WHOLE, STEP_MEANING, "")
CERTIFICATION = column("folder", TEXT, "the certification folder", "")
GROUP = {"group": "class_group"}
"""Renamed, because `group` is a keyword of SQL."""

TABLES = {
    "runs": SqlTable(
        "a row for each run folder",
        (
            FOLDER,
            column("name", TEXT, "name of the plan", "recorded.run.name"),
            column("started", "TIMESTAMP", "UTC", "recorded.run.started"),
            column("cuesta", TEXT, "version that ran it", "recorded.run.cuesta"),
            column("seed", WHOLE, "", "recorded.run.seed"),
            column("agents", WHOLE, "number of agents", "recorded.run.agents"),
            column("target", TEXT, "the target", "recorded.run.host.targets"),
            column("machine", TEXT, "the driver's machine: its facts, as JSON", "recorded.run.machine"),
            column("valid", TRUTH, "whether its figures can be trusted"),
            column("invalid_because", TEXT, "a sentence a row; empty if it is valid", "doubts"),
            column("ended", TEXT, "`completed`, `interrupted`, `failed`; empty if it was cut off", ""),
            column(
                "damage", TEXT, "what could not be read, a sentence a row; empty if all was read", "recorded.damage"
            ),
        ),
    ),
    "steps": SqlTable("a row for each load step of a run", (FOLDER, *columns_of(StepFigures))),
    "hosts": SqlTable(
        "a row for each host of a step where several are metered; `steps` has the figures of the first",
        (FOLDER, STEP, column("name", TEXT, "the host's name", ""), *columns_of(HostFigures)),
    ),
    "classes": SqlTable(
        "a row for each class of transactions in a step",
        (FOLDER, STEP, *columns_of(TransactionClass, GROUP | {"response.count": "count"})),
    ),
    "causes": SqlTable(
        "the host's CPU time by cause",
        (
            FOLDER,
            STEP,
            column("cause", TEXT, ""),
            column("percent", NUMBER, "of the host's CPUs"),
            column("standard_error", NUMBER, "of `percent`, where it was sampled"),
            column("low", NUMBER, "lower end of the 95 % interval"),
            column("high", NUMBER, "upper end of the 95 % interval; the only value for a cause without samples"),
        ),
    ),
    "meters": SqlTable(
        "a row for each figure of a step's meter report (docs/meters.md)",
        (
            FOLDER,
            STEP,
            column("meter", TEXT, "its path in the report: `counts.major_faults.per_s`"),
            column("value", NUMBER, "empty where there is none"),
            column("tier", TEXT, "`plain`, `sampled` or `exact`"),
            column("why", TEXT, "why there is no value"),
        ),
    ),
    "intervals": SqlTable(
        "a row for each second of each agent (`series.jsonl`)",
        (
            FOLDER,
            column("agent", WHOLE, "", ""),
            column("step", WHOLE, STEP_MEANING),
            column("phase", TEXT, "`settle`, `measure` or `drain`"),
            column("start", NUMBER, "seconds from the start of the run"),
            column("length", NUMBER, "seconds"),
            column("users", WHOLE, "users with a line at its end"),
            column("transactions", WHOLE, "completed transactions"),
            column("keys", WHOLE, "keys that were sent"),
            column("errors", WHOLE, "", ""),
            column("unfinished", WHOLE, "transactions under way at its end"),
            column("cpu", NUMBER, "CPU seconds of the driver's threads"),
        ),
    ),
    "marks": SqlTable(
        "a row for each instant that somebody marked who watched a run (`marks.jsonl`)",
        (FOLDER, *columns_of(MarkFigures)),
    ),
    "limits": SqlTable("a row for each limit of a step", (FOLDER, *columns_of(LimitResult, {"limit": "limit_text"}))),
    "published": SqlTable("published figures beside measured ones", (FOLDER, *columns_of(PublishedComparison))),
    "certifications": SqlTable(
        "a row for each certification folder",
        (
            CERTIFICATION,
            column("kind", TEXT, "`certification` or `benchmark`", "given.kind"),
            column("system", TEXT, "what is certified", "given.system"),
            column("plan", TEXT, "", "given.plan"),
            column("users_group", TEXT, "the group of users", "given.group"),
            column("started", "TIMESTAMP", "UTC", "given.started"),
            column("cuesta", TEXT, "version that ran it", "given.cuesta"),
            column("grade", TEXT, "`certified`, `observation` or `estimate`"),
            column("because", TEXT, "why it is not certified, a sentence a row"),
            column("warnings", TEXT, "a sentence a row"),
            column("users", WHOLE, "processes", "workload.users"),
            column("attached", TEXT, "`typewriter`, `FSIM` or `line`", "workload.attached"),
            column("script", TEXT, "SHA-256 of the script", "workload.sha256"),
            column("runs", WHOLE, "runs that count", "method.runs"),
            column("excluded", WHOLE, "runs that do not count", ""),
            column(
                "elapsed",
                NUMBER,
                "seconds, mean of the runs: of a benchmark from first start to last end, else to completion",
                "",
            ),
            column("idle", NUMBER, "share of the CPUs in true idle, mean of the runs", ""),
            column("damage", TEXT, "why it could not be read; empty if it was", ""),
        ),
    ),
    "certified_runs": SqlTable("a row for each run that counts", (CERTIFICATION, *run_columns({"folder": "run"}))),
    "measurements": SqlTable(
        "parts a to d of the form, a row each",
        (
            CERTIFICATION,
            column("part", TEXT, "`a`, `b`, `c` or `d`", ""),
            column("key", TEXT, "the row's id: `page`, `page.number`"),
            column("name", TEXT, ""),
            column("unit", TEXT, "`s`, `share`, `ratio` or `number`"),
            column("creation", NUMBER, "of process creation"),
            column("command", NUMBER, "of the command sequence"),
            column("total", NUMBER, "of both phases; in part d the figure"),
            column("why", TEXT, "why there is no figure", ""),
            column("formula", TEXT, ""),
        ),
    ),
}
"""Name → table. `durations` are seconds; an absent figure is NULL and never 0."""
