"""`cuesta meters INTERVAL`: prints a row after each interval, and the average over all of them at the end."""

import json
import sys
import threading
from contextlib import nullcontext
from typing import Any, TextIO

from cuesta import _native
from cuesta.cli.output import check_json
from cuesta.engine.local.meter_process import Meters
from cuesta.errors import Exit
from cuesta.private_files import private
from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json
from cuesta.report import meter_rows as report
from cuesta.terminal import inform, show, write

HEAD_EVERY = 20
"""Rows between heads."""


def carry_out(meters: Meters, every: float, count: int | None, where: str | None, stopped: threading.Event) -> int:
    """Print `count` rows, or until `stopped` is set. With --json each row is a whole meter report as an object."""
    check_json(where)
    with nullcontext(sys.stdout) if where in (None, "-") else open(where, "w", encoding="utf-8", opener=private) as out:
        return _follow(meters, every, count, out if where else None, stopped)


def _follow(meters: Meters, every: float, count: int | None, out: TextIO | None, stopped: threading.Event) -> int:
    first, due, number, printed = meters.snapshot(), _native.now() / 1e9, 0, set[str]()
    while not stopped.is_set() and (count is None or number < count):
        due += every
        if stopped.wait(max(due - _native.now() / 1e9, 0.0)):
            break
        json_report = json.loads(meters.report())
        if json_report["seconds"] > 1.5 * every:
            json_report["notes"].append(f"a gap: this reading came {json_report['seconds'] - every:.1f} s late")
            due = _native.now() / 1e9
        _print_row(json_report, number, printed, out)
        number += 1
    if out is None and number:
        average = from_json(MeterReport, json.loads(meters.report(first)))
        show("average\n" + report.interval_row(average))
    return Exit.GOOD


def _print_row(json_report: dict[str, Any], number: int, printed: set[str], out: TextIO | None) -> None:
    """Print a row. `printed` has the notes that were printed before: each is printed once, except gaps."""
    if out:
        write(json.dumps(json_report), out)
        return
    if number % HEAD_EVERY == 0:
        show(report.head())
    interval: MeterReport = from_json(MeterReport, json_report)
    show(report.interval_row(interval))
    late = [note for note in json_report["notes"] if note.startswith("a gap")]
    for note in [*(json_report["notes"] if number == 0 else late), *report.list_gaps(interval)]:
        if note in late or note not in printed:
            inform(f"  {note}")
        printed.add(note)
