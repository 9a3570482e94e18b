"""`cuesta meters profile`: where CPU time goes by function, as `ic_sample` of the 1979 front end showed it."""

import argparse
import json
import threading

from cuesta import _native
from cuesta.cli.output import check_json, write_json
from cuesta.errors import CuestaError, Exit, UsageError
from cuesta.private_files import write_private
from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json
from cuesta.terminal import show


def carry_out(meters: _native.Meters, arguments: argparse.Namespace, seconds: float, stopped: threading.Event) -> int:
    """Sample for `seconds`, or until `stopped` is set, and show where CPU time went."""
    fraction = _fraction(arguments.fraction)
    check_json(arguments.json)
    stopped.wait(seconds)
    json_report = json.loads(meters.report())
    try:
        samples = json.loads(meters.profile(fraction, f"{json_report['subject']}, {json_report['seconds']:.0f} s"))
    except _native.RunError as error:
        raise CuestaError(f"cuesta meters profile: {error}") from None
    if arguments.json != "-":
        from cuesta.report import profile as report  # noqa: PLC0415

        show(report.text(samples["listing"], from_json(MeterReport, json_report)))
    for file, content in ((arguments.flame, samples["flame"]), (arguments.folded, samples["folded"])):
        if file:
            write_private(file, content)
    write_json(arguments.json, {"sheet": json_report, **samples["listing"]})
    return Exit.GOOD


def _fraction(text: str) -> float:
    try:
        fraction = float(text)
    except ValueError:
        fraction = -1.0
    if not 0.0 < fraction <= 1.0:
        raise UsageError(f"cuesta meters profile: --fraction: expected more than 0, at most 1, got {text}")
    return fraction
