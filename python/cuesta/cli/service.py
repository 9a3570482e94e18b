"""A live service's profile: `cuesta meters --record` writes one, `cuesta compare --profile` holds a run against it."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from cuesta import __version__, machine
from cuesta.analysis.compare.representative import apart, mix
from cuesta.cli.output import check_json, say, write_json
from cuesta.engine.folder import write_json as record_json
from cuesta.engine.meter_process import Meters
from cuesta.errors import Exit, RefusedError
from cuesta.ledger import open_run
from cuesta.ledger.service import FORMAT, read_service
from cuesta.report.representative import data, text


def record(meters: Meters, file: Path) -> int:
    """Write what was metered since the meters began; refuses a subject that has ended."""
    sheet = json.loads(meters.report())
    if why := sheet["own"]["seconds"].get("why"):
        raise RefusedError(f"nothing recorded of {sheet['subject']}: {why}", "record a service while it runs")
    recorded = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {"format": FORMAT, "cuesta": __version__, "recorded": recorded, "machine": dict(machine.facts())}
    record_json(file, {**about, "sheet": sheet})
    print(f"{sheet['seconds']:.0f} s of {sheet['subject']} recorded: {file}", file=sys.stderr)
    for name, why in mix(sheet).missing.items():
        print(f"  without {name}: {why}", file=sys.stderr)
    return Exit.GOOD


def hold_against(profile: Path, folder: Path, step: int | None, where: str | None) -> int:
    """Say how far a run's mix is from a service's."""
    check_json(where)
    service, recorded = read_service(profile), open_run(folder)
    number = max(recorded.steps, default=0) if step is None else step
    sheet = recorded.metered.sheets.get(number)
    if sheet is None:
        why = f"step {number + 1} of {folder} has no sheet of its host's meters"
        raise RefusedError(f"nothing to compare: {why}", "run it with --meters: docs/meters.md")
    found = apart(mix(service.sheet), mix(sheet))
    say(text(found, service, sheet), where)
    write_json(where, data(found))
    return Exit.GOOD if found.represents else Exit.CHANGED
