"""Profiles of live services: `cuesta meters --record` writes it, `cuesta compare --profile` compares a run."""

import json
from datetime import UTC, datetime
from pathlib import Path

from cuesta import __version__, machine
from cuesta.analysis.representative import mix, mix_distance
from cuesta.cli.output import check_json, say, write_json
from cuesta.engine.folder import write_json as record_json
from cuesta.engine.local.meter_process import Meters
from cuesta.errors import Exit, RefusedError
from cuesta.ledger import open_run
from cuesta.ledger.service import FORMAT, read_service_profile
from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json
from cuesta.report.representative import data, text
from cuesta.terminal import inform


def record(meters: Meters, file: Path) -> int:
    """Write the figures since the meters began. Raises RefusedError if the subject has ended."""
    json_report = json.loads(meters.report())
    report: MeterReport = from_json(MeterReport, json_report)
    if why := report.own.seconds.why:
        raise RefusedError(f"nothing recorded of {report.subject}: {why}", "record a service while it runs")
    recorded = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {"format": FORMAT, "cuesta": __version__, "recorded": recorded, "machine": dict(machine.facts())}
    record_json(file, {**about, "sheet": json_report})
    inform(f"{report.seconds:.0f} s of {report.subject} recorded: {file}")
    for name, why in mix(report).missing.items():
        inform(f"  without {name}: {why}")
    return Exit.GOOD


def compare_with(service_profile: Path, folder: Path, step: int | None, where: str | None) -> int:
    """Print how far the mix of work in a run is from that of a service."""
    check_json(where)
    service, recorded = read_service_profile(service_profile), open_run(folder)
    number = max(recorded.steps, default=0) if step is None else step
    report = recorded.metered.reports.get(number)
    if report is None:
        why = f"step {number + 1} of {folder} has no report of its host's meters"
        raise RefusedError(f"nothing to compare: {why}", "run it with --meters: docs/meters.md")
    distance = mix_distance(mix(service.report), mix(report))
    say(text(distance, service, report), where)
    write_json(where, data(distance))
    return Exit.GOOD if distance.represents else Exit.CHANGED
