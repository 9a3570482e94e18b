"""Writes what is published of the catalogue: the tables of docs/summary.md, and the JSON Schema of `summary.json`.

`python -m cuesta.figures.document docs` renews both in place.
"""

import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import TypeAdapter

from cuesta.figures.bisync import BisyncLine
from cuesta.figures.catalogue import list_declared, list_fields
from cuesta.figures.causes import Cause
from cuesta.figures.counts import DueAccount, GroupCounts
from cuesta.figures.driver import AgentFigures, OddNode
from cuesta.figures.durations import Distribution, KeyTimes, TransactionClass
from cuesta.figures.path import (
    AnswerPath,
    ChainedHop,
    EchoPath,
    FollowedEcho,
    FollowedResponse,
    HopMean,
    HopTimes,
    LoginPath,
    PathBand,
    PathHop,
    PathPart,
    SlowKey,
)
from cuesta.figures.probe import ProbeComparison
from cuesta.figures.step import LevelShift, LimitResult, PublishedComparison, StepFigures
from cuesta.figures.system_under_test import HostFigures
from cuesta.figures.watching import HeldStarts, MarkFigures
from cuesta.figures.whole_run import PastSaturation, RunFigures
from cuesta.marked_tables import renew
from cuesta.records.meter_report import MeterReport
from cuesta.records.rows import WaitingCounts, WaitSample

TABLES = {
    "run": RunFigures,
    "step": StepFigures,
    "distribution": Distribution,
    "echo.path": EchoPath,
    "response.path": AnswerPath,
    "login_path": LoginPath,
    "times": HopTimes,
    "bands": PathBand,
    "chain": ChainedHop,
    "hops": PathHop,
    "slow_key": SlowKey,
    "groups": GroupCounts,
    "samples": WaitSample,
    "classes": TransactionClass,
    "keys": KeyTimes,
    "lines": BisyncLine,
    "agents": AgentFigures,
    "odd_nodes": OddNode,
    "comparisons": ProbeComparison,
    "causes": Cause,
    "limits": LimitResult,
    "published": PublishedComparison,
    "past_saturation": PastSaturation,
    "marks": MarkFigures,
    "starts_held": HeldStarts,
    "shift": LevelShift,
}
NAMED = {
    Distribution: "distribution",
    FollowedEcho: "distribution; [`path`](#echopath)",
    FollowedResponse: "distribution; [`path`](#responsepath)",
    LoginPath: "[table](#login_path)",
    HopTimes: "[times](#times)",
    HopMean: "`mean`, s",
    SlowKey: "[table](#slow_key)",
    LevelShift: "shift",
}
"""Tables that stand in many places, and are described once."""
LIKE: Mapping[Any, str] = {HostFigures: "as `host`", PathPart: "as this table"}
"""Tables that are described where another figure has them."""


def markdown(table: type) -> str:
    """Describe a table of figures, the tables in it included, as Markdown."""
    rows = [
        f"| `{name}` | {about.unit or NAMED.get(kind, _shape(kind))} | {about.documented} |"
        for name, kind, about in list_declared(table, whole=NAMED)
    ]
    return "\n".join(["| figure | unit | meaning |", "|---|---|---|", *rows])


def _shape(kind: Any) -> str:
    """Name what a figure without a unit is."""
    tables = [each for each in get_args(kind) if dataclasses.is_dataclass(each)]
    is_mapping = issubclass(get_origin(kind) or object, Mapping)
    if tables:
        described = LIKE.get(tables[0]) or f"[{_anchor(tables[0])}](#{_anchor(tables[0])})"
        return f"{'by name:' if is_mapping else 'list of'} {described}"
    names = {bool: "true or false", str: "text", dict: "by name", list: "list", MeterReport: "table"}
    return names.get(kind) or ("by name" if is_mapping else "list" if get_origin(kind) else "number")


def _anchor(table: Any) -> str:
    return next(name for name, each in TABLES.items() if each is table)


def schema() -> str:
    run, last = (TypeAdapter(table).json_schema() for table in (RunFigures, StepFigures))
    merged = {
        **run,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "summary.json",
        "description": "A run, and beside it the figures of its last step.",
        "properties": last["properties"] | run["properties"],
        "required": sorted({*run["required"], *last["required"]}),
        "$defs": last.get("$defs", {}) | run["$defs"],
    }
    for table in (WaitingCounts, WaitSample, DueAccount):  # of these Rust declares the fields
        for name, _, about in list_fields(table):
            merged["$defs"][table.__name__]["properties"][name] |= about.json_schema
    return json.dumps(merged, indent=1, ensure_ascii=False) + "\n"


def write(docs: Path) -> None:
    page = docs / "summary.md"
    tables = {name: markdown(table) for name, table in TABLES.items()}
    page.write_text(renew(page.read_text(encoding="utf-8"), tables), encoding="utf-8")
    (docs / "summary.schema.json").write_text(schema(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
