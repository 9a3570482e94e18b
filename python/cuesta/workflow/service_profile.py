"""Profiles of live services: what meters saw of one → its file; a run's mix of work held against it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cuesta import __version__, machine
from cuesta.analysis.representative import MixDistance, compare_mixes, derive_mix
from cuesta.engine.local.meter_process import Meters
from cuesta.errors import Exit, RefusedError
from cuesta.ledger import open_run
from cuesta.ledger.service import FORMAT, ServiceProfile, read_service_profile
from cuesta.private_files import replace_json
from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json


@dataclass(frozen=True, slots=True)
class ServiceComparison:
    """How far the mix of work in a run is from that of a service."""

    distance: MixDistance
    service: ServiceProfile
    run: MeterReport

    @property
    def exit(self) -> Exit:
        """The code with which the command ends."""
        return Exit.GOOD if self.distance.represents else Exit.CHANGED

    def text(self, *, colour: bool | None = False) -> str:  # noqa: ARG002, it has none
        """The comparison for a terminal."""
        from cuesta.report.representative import text  # noqa: PLC0415, not always wanted

        return text(self.distance, self.service, self.run)

    def json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        from cuesta.report.representative import data  # noqa: PLC0415, not always wanted

        return data(self.distance)


def record_profile(meters: Meters, file: Path, tell: Callable[[str], None]) -> None:
    """Write the figures since the meters began; `tell` what. Raises RefusedError if the subject has ended."""
    json_report = json.loads(meters.report())
    report: MeterReport = from_json(MeterReport, json_report)
    if why := report.own.seconds.why:
        raise RefusedError(f"nothing recorded of {report.subject}: {why}", "record a service while it runs")
    recorded = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {"format": FORMAT, "cuesta": __version__, "recorded": recorded, "machine": dict(machine.facts())}
    replace_json(file, {**about, "sheet": json_report})
    tell(f"{report.seconds:.0f} s of {report.subject} recorded: {file}")
    for name, why in derive_mix(report).missing.items():
        tell(f"  without {name}: {why}")


def compare_with_service(profile: Path, folder: Path, step: int | None) -> ServiceComparison:
    """Compare a step of a run, counted from 0; None: the last. Raises RefusedError if its host was not metered."""
    service, recorded = read_service_profile(profile), open_run(folder)
    number = max(recorded.steps, default=0) if step is None else step
    report = recorded.metered.reports.get(number)
    if report is None:
        why = f"step {number + 1} of {folder} has no report of its host's meters"
        raise RefusedError(f"nothing to compare: {why}", "run it with --meters: docs/meters.md")
    return ServiceComparison(compare_mixes(derive_mix(service.report), derive_mix(report)), service, report)
