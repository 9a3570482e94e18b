"""What came of runs and certifications, as rows of the ledger's tables (`cuesta.ledger.tables`)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cuesta.analysis.certify.record import derive
from cuesta.analysis.history.certified import elapsed, idle
from cuesta.analysis.summary import Summary, summarise
from cuesta.errors import CuestaError
from cuesta.figures.step import Distribution, StepFigures
from cuesta.ledger.certification import open_certification
from cuesta.ledger.record import Figure, Measurements

Row = dict[str, Any]
Rows = dict[str, list[Row]]

QUANTILES = ("mean", "p50", "p90", "p95", "p99", "p999", "max")


def of_run(folder: Path) -> Rows:
    """Read a run folder, however far it got; what cannot be read is said in `runs.damage`."""
    try:
        summary = summarise(folder)
    except Exception as error:  # whatever is wrong with one folder, the others are asked
        return {"runs": [{"folder": str(folder), "damage": why_unread(error)}]}
    rows: Rows = {
        "runs": [run(summary)],
        "steps": [step(each) for each in summary.steps],
        "classes": [row for each in summary.steps for row in classes(each)],
        "causes": [row for each in summary.steps for row in causes(each)],
        "limits": [row for each in summary.steps for row in limits(each)],
        "meters": [row for number, sheet in summary.recorded.metered.sheets.items() for row in meters(number, sheet)],
        "published": list(published(summary)),
        "intervals": list(intervals(summary)),
    }
    return {name: [{"folder": str(folder), **row} for row in found] for name, found in rows.items()}


def why_unread(error: Exception) -> str:
    """Say why a folder cannot be read."""
    return str(error) if isinstance(error, CuestaError) else f"cannot be read: {type(error).__name__}: {error}"


def run(summary: Summary) -> Row:
    """Give the row of a run."""
    known = summary.recorded.run
    names = ("name", "started", "cuesta", "seed", "agents")
    return {
        **{name: known.get(name) for name in names},
        "target": ", ".join(known.get("host", {}).get("targets", [])),
        "machine": json.dumps(known.get("machine", {})),
        "valid": summary.valid,
        "invalid_because": "\n".join(map(str, summary.doubts)),
        "ended": "" if summary.ended == "cut off" else summary.ended,
        "damage": "\n".join(summary.recorded.damage),
    }


def step(figures: StepFigures) -> Row:
    """Give the row of a step."""
    cpu = figures.host.cpu
    return {
        "step": figures.step,
        "users": figures.users,
        "load": figures.load,
        "swept": json.dumps(dict(figures.swept)),
        "seconds": figures.seconds,
        "transactions": figures.transactions.count,
        "transactions_per_s": figures.transactions.per_s,
        "keystrokes_per_s": figures.keystrokes.per_s,
        "characters_in_per_s": figures.characters.in_per_s,
        "characters_out_per_s": figures.characters.out_per_s,
        "errors": figures.errors.count,
        "skipped": figures.skipped,
        "lost_users": figures.lost_users,
        **durations("response", figures.response),
        **durations("response_from_sent", figures.response_from_sent),
        **durations("echo", figures.echo),
        **durations("lateness", figures.lateness),
        "law_predicted": figures.law and figures.law.r_predicted,
        "driver_cpu": figures.driver.cpu,
        **{f"host_{use}": getattr(cpu, use, None) for use in ("usr", "sys", "irq", "iowait", "steal", "idle")},
    }


def durations(name: str, found: Distribution) -> Row:
    """Give the columns of a distribution."""
    return {f"{name}_{figure}": getattr(found, figure) for figure in QUANTILES}


def classes(figures: StepFigures) -> Iterator[Row]:
    """Give a row for each class of transactions."""
    for each in figures.classes:
        yield {
            "step": figures.step,
            "class_group": each.group,
            "transaction": each.transaction,
            "count": each.response.count,
            **durations("response", each.response),
            **durations("first_response", each.first_response),
        }


def causes(figures: StepFigures) -> Iterator[Row]:
    """Give a row for each cause of CPU time."""
    shares, errors = figures.host.cpu_by_cause or {}, figures.host.cpu_by_cause_se or {}
    limits = figures.host.cpu_by_cause_interval or {}
    for cause in {**shares, **limits}:
        low, high = limits.get(cause, (None, None))
        known = {"percent": shares.get(cause), "standard_error": errors.get(cause), "low": low, "high": high}
        yield {"step": figures.step, "cause": cause, **known}


def limits(figures: StepFigures) -> Iterator[Row]:
    """Give a row for each limit."""
    for each in figures.limits:
        yield {"step": figures.step, "limit_text": each.limit, "value": each.value, "ok": each.ok}


def published(summary: Summary) -> Iterator[Row]:
    """Give a row for each published figure."""
    for each in summary.published:
        names = ("step", "what", "figure", "users", "published", "measured", "ratio", "source")
        yield {name: getattr(each, name) for name in names}


def intervals(summary: Summary) -> Iterator[Row]:
    """Give a row for each second of each agent."""
    names = ("step", "phase", "start", "length", "users", "transactions", "keys", "unfinished", "cpu")
    for agent in summary.recorded.agents:
        for each in agent.intervals:
            row = {name: getattr(each, name) for name in names}
            yield {"agent": agent.number, **row, "errors": sum(each.errors.values())}


def meters(step: int, sheet: Any, place: str = "") -> Iterator[Row]:
    """Give a row for each figure of a sheet, by its place in it."""
    if isinstance(sheet, dict) and ("tier" in sheet or "why" in sheet):
        value, about = sheet.get("value"), {"step": step, "tier": sheet.get("tier"), "why": sheet.get("why")}
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for name, each in parts:
            if each is None or isinstance(each, int | float):
                yield {**about, "meter": f"{place}.{name}" if name else place, "value": each}
    elif isinstance(sheet, dict):
        for name, each in sheet.items():
            yield from meters(step, each, f"{place}.{name}" if place else name)


def of_certification(folder: Path) -> Rows:
    """Read a certification folder, deriving its figures anew; why it cannot be is said in `certifications.damage`."""
    try:
        record = derive(open_certification(folder))
    except Exception as error:  # whatever is wrong with one folder, the others are asked
        return {"certifications": [{"folder": str(folder), "damage": why_unread(error)}]}
    given = record.given
    row = {
        **{name: getattr(given, name) for name in ("kind", "system", "plan", "started", "cuesta")},
        "users_group": given.group,
        "grade": record.grade,
        "because": "\n".join(record.because),
        "warnings": "\n".join(record.warnings),
        "users": record.workload.users,
        "attached": record.workload.attached,
        "script": record.workload.sha256,
        "runs": record.method.runs,
        "excluded": len(record.method.excluded),
        "elapsed": elapsed(record),
        "idle": idle(record),
    }
    figures = ("creation", "command", "creation_cpu", "command_cpu", "completion", "idle", "steal")
    runs = [
        {"run": each.folder, "transactions": each.transactions} | {name: getattr(each, name).value for name in figures}
        for each in record.runs
    ]
    rows = {"certifications": [row], "certified_runs": runs, "measurements": list(measured(record.measurements))}
    return {name: [{"folder": str(folder), **each} for each in found] for name, found in rows.items()}


def measured(found: Measurements) -> Iterator[Row]:
    """Give parts a to d, a row each."""
    for part in ("a", "b", "c"):
        for line in getattr(found, part):
            values = {name: getattr(line, name).value for name in ("creation", "command", "total")}
            yield {**about(part, line), **values, "why": line.total.why}
    for seen in found.d:
        yield {**about("d", seen), **total(seen.figure)}


def about(part: str, line: Any) -> Row:
    """Give what all four parts say of a row."""
    return {"part": part, "key": line.key, "name": line.name, "unit": line.unit, "formula": line.formula}


def total(figure: Figure) -> Row:
    """Give a figure that has no phases."""
    return {"total": figure.value, "why": figure.why}
