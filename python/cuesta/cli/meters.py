"""`cuesta meters`: shows where this machine's time goes. Each word of the command is carried out by a function here."""

import argparse
import json
from typing import Any

from cuesta import _native
from cuesta.cli import meter_rows, profile
from cuesta.cli.interrupts import catch_interrupts
from cuesta.cli.output import check_json, write_json
from cuesta.cli.saved_interval import SavedInterval
from cuesta.cli.verbs.meters import WORDS
from cuesta.engine.local.meter_process import SHORTEST, MeterRequest, Meters, open_meters, stream
from cuesta.engine.local.node_exporter import is_url
from cuesta.errors import Exit, UsageError
from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json
from cuesta.terminal import inform, show

REPORT_SECONDS = 5.0
"""The interval of a report when no INTERVAL is given."""
NO_WORD = f"seconds, or a duration such as 200ms; or a word, which stands first: {', '.join(WORDS)}"
"""What to do about an INTERVAL that is none."""


def carry_out(arguments: argparse.Namespace) -> int:
    words = {
        "rows": _rows,
        "report": _report,
        "reset": _reset,
        "record": _record,
        "profile": _profile,
        "stream": _stream,
    }
    return words[arguments.word](arguments)


def _rows(arguments: argparse.Namespace) -> int:
    """Print rows; a report if no INTERVAL is given, and reports if the kernel is traced: rows do not show it."""
    if arguments.front_end:
        from cuesta.cli import tty_meters  # noqa: PLC0415

        return tty_meters.carry_out(arguments.front_end, arguments.json)
    interval, count, where = arguments.interval, _count(arguments.count), arguments.json
    every = REPORT_SECONDS if interval is None else _duration(interval, "cuesta meters: INTERVAL", NO_WORD)
    are_reports = interval is None or bool(arguments.traced and not where)
    meters = _start_by_tiers(arguments, may_sample=are_reports or where is not None)
    if are_reports:
        return _reports(meters, every, count or 1, where)
    with catch_interrupts(message=None) as stopped:
        return meter_rows.carry_out(meters, every, count, where, stopped)


def _report(arguments: argparse.Namespace) -> int:
    """Print the report of the caller's interval. It has no causes: nothing has sampled since the interval began."""
    meters = _start(arguments, sampled=False)
    saved = SavedInterval.at(arguments.since, arguments.subject)
    _show(saved.json_report(meters), arguments.json)
    if arguments.reset:
        saved.write(meters.snapshot())
    return Exit.GOOD


def _reset(arguments: argparse.Namespace) -> int:
    """Begin an interval of the caller."""
    saved = SavedInterval.at(arguments.since, arguments.subject)
    saved.write(_start(arguments, sampled=False).snapshot())
    inform(f"an interval begins now; `cuesta meters report` shows it ({saved.file})")
    return Exit.GOOD


def _record(arguments: argparse.Namespace) -> int:
    """Meter a service for the interval and write its profile. Ctrl-C ends the interval early."""
    check_json(str(arguments.file), "cuesta meters record")
    seconds = _duration(arguments.interval, "cuesta meters record: INTERVAL")
    meters = _start_by_tiers(arguments, may_sample=True)
    with catch_interrupts(message=None) as stopped:
        stopped.wait(seconds)
    from cuesta.workflow.service_profile import record_profile  # noqa: PLC0415, other words need no analysis

    record_profile(meters, arguments.file, inform)
    return Exit.GOOD


def _profile(arguments: argparse.Namespace) -> int:
    seconds = _duration(arguments.seconds, "cuesta meters profile: SECONDS")
    meters = _start(arguments, sampled=True, stacks=True)
    assert isinstance(meters, _native.Meters)
    with catch_interrupts(message=None) as stopped:
        return profile.carry_out(meters, arguments, seconds, stopped)


def _stream(_arguments: argparse.Namespace) -> int:
    stream()
    return Exit.GOOD


def _start(arguments: argparse.Namespace, **how: Any) -> Meters:
    """Start the meters. Raises UsageError if the subject is misspelt, CuestaError if it does not exist."""
    return open_meters(MeterRequest(arguments.subject, **how))


def _start_by_tiers(arguments: argparse.Namespace, may_sample: bool) -> Meters:
    """Start the meters as --plain, --exact and --calls say. The full tracer replaces the sampler."""
    traced = arguments.traced
    if traced and is_url(arguments.subject):
        raise UsageError("cuesta meters: a node_exporter does not trace", "run cuesta there, over ssh")
    return _start(arguments, sampled=may_sample and not arguments.plain and traced != "full", traced=traced)


def _reports(meters: Meters, every: float, count: int, where: str | None) -> int:
    """Show `count` reports, one after each interval; Ctrl-C cuts the last one short and shows it too."""
    with catch_interrupts(message=None) as stopped:
        for _ in range(count):
            stopped.wait(every)
            _show(json.loads(meters.report()), where)
            if stopped.is_set():
                break
    return Exit.GOOD


def _show(json_report: dict[str, Any], where: str | None) -> None:
    check_json(where)
    if where != "-":
        from cuesta.report import meters as report  # noqa: PLC0415

        show(report.text(from_json(MeterReport, json_report)))
    write_json(where, json_report)


def _duration(text: str, what: str, remedy: str = "seconds, or a duration such as 200ms") -> float:
    try:
        every = float(text) if text.replace(".", "", 1).isdigit() else _native.duration(text) / 1e9
    except ValueError as error:
        raise UsageError(f"{what}: {error}", remedy) from None
    if not every >= SHORTEST:
        raise UsageError(f"{what}: at least 50ms: the kernel counts CPU time in ticks of 10 ms")
    return every


def _count(text: str | None) -> int | None:
    if text is not None and not (text.isdigit() and int(text) > 0):
        raise UsageError(f"cuesta meters: COUNT: expected a number of rows, got {text!r}")
    return None if text is None else int(text)
