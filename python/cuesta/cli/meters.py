"""`cuesta meters`: shows where this machine's time goes. This module reads the arguments and chooses the mode."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Literal

from cuesta import _native
from cuesta.cli import meter_rows, profile
from cuesta.cli.interrupts import interrupts
from cuesta.cli.output import check_json, write_json
from cuesta.cli.saved_interval import SavedInterval
from cuesta.engine.meter_process import SHORTEST, MeterRequest, Meters, open_meters, stream
from cuesta.engine.node_exporter import is_url
from cuesta.errors import Exit, UsageError
from cuesta.figures.meter_figure import from_json
from cuesta.figures.meter_report import MeterReport

RECORD_SECONDS = 60.0
"""The default interval of `--record`."""
REPORT_SECONDS = 5.0
"""The interval of a report when no INTERVAL is given."""


def carry_out(arguments: argparse.Namespace) -> int:
    if arguments.interval == "stream":
        stream()
        return Exit.GOOD
    read_word(arguments)
    for is_wanted, mode in (
        (arguments.interval == profile.WORD, _profile),
        (arguments.front_end, _front_end),
        (arguments.record, _record),
    ):
        if is_wanted:
            return mode(arguments)
    if arguments.flame or arguments.folded or arguments.fraction:
        raise UsageError(
            "cuesta meters: --flame, --folded and --fraction apply only to a profile", "cuesta meters profile"
        )
    _check_traced(arguments)
    meters = start(arguments)
    if arguments.report or arguments.reset:
        if arguments.interval:
            raise UsageError(
                "cuesta meters: an INTERVAL cannot be combined with --report or --reset", "leave one of them out"
            )
        return _own_interval(meters, arguments)
    if arguments.since:
        raise UsageError("cuesta meters: --since needs --report or --reset", "add one of them")
    count = _count(arguments.count)
    if arguments.interval is None:
        return _reports(meters, REPORT_SECONDS, 1, arguments.json)
    every = _duration(arguments.interval)
    if _depth(arguments) and not arguments.json:
        return _reports(meters, every, count or 1, None)
    with interrupts(message=None) as stopped:
        return meter_rows.carry_out(meters, every, count, arguments.json, stopped)


def read_word(arguments: argparse.Namespace) -> None:
    """Read `reset`, `report` and `record FILE [INTERVAL]` as the flags that they stand for."""
    word = arguments.interval
    if word in ("reset", "report"):
        setattr(arguments, word, True)
        arguments.interval, arguments.count = arguments.count, arguments.length
    elif word == "record":
        if arguments.count is None:
            raise UsageError("cuesta meters record: a FILE is needed", "cuesta meters record FILE 10m")
        arguments.record, arguments.interval, arguments.count = Path(arguments.count), arguments.length, None
    elif arguments.length is not None:
        raise UsageError(f"cuesta meters: unexpected argument {arguments.length!r}", "cuesta meters INTERVAL COUNT")


def _front_end(arguments: argparse.Namespace) -> int:
    from cuesta.cli import tty_meters  # noqa: PLC0415

    return tty_meters.carry_out(arguments.front_end, arguments.json)


def _record(arguments: argparse.Namespace) -> int:
    """Meter a service for the interval and write its profile. Ctrl-C ends the interval early."""
    if arguments.count or arguments.report or arguments.reset:
        raise UsageError("cuesta meters: --record meters one interval", "cuesta meters 10m --record FILE")
    check_json(str(arguments.record), "--record")
    interval = arguments.interval
    seconds = RECORD_SECONDS if interval is None else _duration(interval, "cuesta meters record: INTERVAL")
    meters = start(arguments)
    with interrupts(message=None) as stopped:
        stopped.wait(seconds)
    from cuesta.cli import service  # noqa: PLC0415

    return service.record(meters, arguments.record)


def _profile(arguments: argparse.Namespace) -> int:
    if arguments.url or arguments.report or arguments.reset:
        raise UsageError(
            "cuesta meters profile: it samples this machine, and cannot be combined with other modes", "leave them out"
        )
    if arguments.plain:
        raise UsageError(
            "cuesta meters profile: a profile consists of samples, so --plain does not apply", "leave it out"
        )
    count = arguments.count
    seconds = profile.SECONDS if count is None else _duration(count, "cuesta meters profile: SECONDS")
    meters = start(arguments)
    assert isinstance(meters, _native.Meters)
    with interrupts(message=None) as stopped:
        return profile.carry_out(meters, arguments, seconds, stopped)


def subject_of(arguments: argparse.Namespace) -> str:
    """The subject as the meters spell it, such as `pid:7`."""
    for kind in ("pid", "cgroup", "cpus"):
        if (value := getattr(arguments, kind)) is not None:
            return f"{kind}:{value}"
    return arguments.url or "machine"


def _has_causes(arguments: argparse.Namespace) -> bool:
    """Whether to sample causes: not for rows, which do not show them, nor for --reset and --report, between which no
    process is there to sample.
    """
    is_row = arguments.interval is not None and not (arguments.json or arguments.record)
    is_row = is_row and not _depth(arguments)
    return not (is_row or arguments.plain or arguments.calls or arguments.report or arguments.reset)


def _depth(arguments: argparse.Namespace) -> Literal["light", "full"] | None:
    if arguments.calls:
        return "full"
    return "light" if arguments.exact else None


def _check_traced(arguments: argparse.Namespace) -> None:
    if not _depth(arguments):
        return
    if arguments.url:
        raise UsageError("cuesta meters: a node_exporter does not trace", "run cuesta there, over ssh")
    if arguments.report or arguments.reset:
        raise UsageError(
            "cuesta meters: --exact and --calls trace while the command runs, and --reset ends at once",
            "cuesta meters --exact INTERVAL",
        )


def start(arguments: argparse.Namespace) -> Meters:
    """Start the meters. Raises UsageError if the subject is misspelt, CuestaError if it does not exist."""
    if arguments.url and not is_url(arguments.url):
        raise UsageError(f"cuesta meters: --from: not a URL: {arguments.url}", "for example http://host:9100/metrics")
    stacks, depth = arguments.interval == profile.WORD, _depth(arguments)
    subject, sampled = subject_of(arguments), _has_causes(arguments)
    return open_meters(MeterRequest(subject, sampled=sampled, stacks=stacks, traced=depth))


def _reports(meters: Meters, every: float, count: int, where: str | None) -> int:
    """Show `count` reports, one after each interval; Ctrl-C cuts the last one short and shows it too."""
    with interrupts(message=None) as stopped:
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

        print(report.text(from_json(MeterReport, json_report)))
    write_json(where, json_report)


def _own_interval(meters: Meters, arguments: argparse.Namespace) -> int:
    if arguments.json and not arguments.report:
        raise UsageError("cuesta meters: --json writes a report, and --reset makes none", "leave one of them out")
    saved = SavedInterval.at(arguments.since, subject_of(arguments))
    if arguments.report:
        _show(saved.json_report(meters), arguments.json)
    if arguments.reset:
        saved.write(meters.snapshot())
        if not arguments.report:
            print(f"an interval begins now; `cuesta meters report` shows it ({saved.file})", file=sys.stderr)
    return Exit.GOOD


def _duration(text: str, what: str = "cuesta meters: INTERVAL") -> float:
    try:
        every = float(text) if text.replace(".", "", 1).isdigit() else _native.duration(text) / 1e9
    except ValueError as error:
        raise UsageError(f"{what}: {error}", "seconds, or a duration such as 200ms") from None
    if not every >= SHORTEST:
        raise UsageError(f"{what}: at least 50ms: the kernel counts CPU time in ticks of 10 ms")
    return every


def _count(text: str | None) -> int | None:
    if text is not None and not (text.isdigit() and int(text) > 0):
        raise UsageError(f"cuesta meters: COUNT: expected a number of rows, got {text!r}")
    return None if text is None else int(text)
