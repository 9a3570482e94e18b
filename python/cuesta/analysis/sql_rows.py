"""The results of runs and certifications, as rows of the ledger's tables (`cuesta.ledger.tables`)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cuesta.analysis.certify.record import derive_record
from cuesta.analysis.history.ledgers import mean_elapsed, mean_idle
from cuesta.analysis.summary import summarise
from cuesta.analysis.watching import list_marks
from cuesta.errors import CuestaError
from cuesta.figures.step import StepFigures
from cuesta.ledger.certification import open_certification
from cuesta.ledger.record import Measurements
from cuesta.ledger.tables import TABLES
from cuesta.records.meter_figure import to_json

SqlRow = dict[str, Any]
Rows = dict[str, list[SqlRow]]


def rows_of_run(folder: Path) -> Rows:
    """Read a run folder, however far it got; `runs.damage` says what cannot be read."""
    try:
        summary = summarise(folder)
    except Exception as error:  # one damaged folder must not keep the others from being queried
        return {"runs": [{"folder": str(folder), "damage": why_unread(error)}]}
    steps, agents = summary.steps, summary.recorded.agents
    rows: Rows = {
        "runs": [make_row("runs", summary, ended="" if summary.ended == "cut off" else summary.ended)],
        "steps": [make_row("steps", step) for step in steps],
        "hosts": [
            make_row("hosts", host, step=step.step, name=name)
            for step in steps
            for name, host in (step.hosts or {}).items()
        ],
        "classes": [make_row("classes", each, step=step.step) for step in steps for each in step.classes],
        "causes": [row for step in steps for row in list_causes(step)],
        "limits": [make_row("limits", each) for step in steps for each in step.limits],
        "meters": [
            row
            for number, report in summary.recorded.metered.reports.items()
            for row in list_meters(number, to_json(report))
        ],
        "marks": [make_row("marks", mark) for mark in list_marks(summary.recorded)],
        "published": [make_row("published", each) for each in summary.published],
        "intervals": [
            make_row("intervals", each, agent=agent.number, errors=sum(each.errors.values()))
            for agent in agents
            for each in agent.intervals
        ],
    }
    return {name: [{"folder": str(folder), **row} for row in found] for name, found in rows.items()}


def make_row(table: str, source: Any, **more: object) -> SqlRow:
    """A row of a table, its columns taken from `source`; `more` fills in the columns that have no path."""
    return {**TABLES[table].make_row(source), **more}


def why_unread(error: Exception) -> str:
    return str(error) if isinstance(error, CuestaError) else f"cannot be read: {type(error).__name__}: {error}"


def list_causes(figures: StepFigures) -> Iterator[SqlRow]:
    shares, errors = figures.host.cpu_by_cause or {}, figures.host.cpu_by_cause_se or {}
    limits = figures.host.cpu_by_cause_interval or {}
    for cause in {**shares, **limits}:
        low, high = limits.get(cause, (None, None))
        known = {"percent": shares.get(cause), "standard_error": errors.get(cause), "low": low, "high": high}
        yield {"step": figures.step, "cause": cause, **known}


def list_meters(step: int, report: Any, place: str = "") -> Iterator[SqlRow]:
    """Make a row for each figure of a meter report, by its place in it."""
    if isinstance(report, dict) and ("tier" in report or "why" in report):
        value, about = report.get("value"), {"step": step, "tier": report.get("tier"), "why": report.get("why")}
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for name, each in parts:
            if each is None or isinstance(each, int | float):
                yield {**about, "meter": f"{place}.{name}" if name else place, "value": each}
    elif isinstance(report, dict):
        for name, each in report.items():
            yield from list_meters(step, each, f"{place}.{name}" if place else name)


def rows_of_certification(folder: Path) -> Rows:
    """Read a certification folder, deriving its figures anew; `certifications.damage` says why it cannot be."""
    try:
        record = derive_record(open_certification(folder))
    except Exception as error:  # one damaged folder must not keep the others from being queried
        return {"certifications": [{"folder": str(folder), "damage": why_unread(error)}]}
    whole = make_row(
        "certifications",
        record,
        excluded=len(record.method.excluded),
        elapsed=mean_elapsed(record),
        idle=mean_idle(record),
    )
    rows = {
        "certifications": [whole],
        "certified_runs": [make_row("certified_runs", each) for each in record.runs],
        "measurements": list(list_measurements(record.measurements)),
    }
    return {name: [{"folder": str(folder), **each} for each in found] for name, found in rows.items()}


def list_measurements(found: Measurements) -> Iterator[SqlRow]:
    """Make a row of each row of parts a to d; those of part d have no phases."""
    for part in ("a", "b", "c"):
        for row in getattr(found, part):
            yield make_row("measurements", row, part=part, why=row.total.why)
    for row in found.d:
        yield make_row("measurements", row, part="d", total=row.figure.value, why=row.figure.why)
