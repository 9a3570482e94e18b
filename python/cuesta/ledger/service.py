"""Reads a service's profile: a meter report of a live service, to compare benchmarks with.

The file is one JSON object: `format`, `cuesta`, `recorded` (UTC), `machine`, and the meters' whole report (`sheet`).
"""

import json
from dataclasses import dataclass
from pathlib import Path

from cuesta.errors import InputError
from cuesta.ledger.rows import JsonObject, insist_on_known_format
from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json

FORMAT = 1
"""The newest format of profiles that can be read."""


@dataclass(frozen=True, slots=True)
class ServiceProfile:
    recorded: str
    machine: JsonObject
    report: MeterReport


def read_service_profile(path: Path) -> ServiceProfile:
    """Raises InputError if the file is no profile, or one of a newer cuesta."""
    remedy = "`cuesta meters 10m --record service.profile` records one"
    try:
        content = json.loads(path.read_bytes())
        report = from_json(MeterReport, content["sheet"])
        version, service = content["format"], ServiceProfile(content["recorded"], content["machine"], report)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}", remedy) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not a profile of a service", remedy) from None
    insist_on_known_format(path, version, FORMAT, content.get("cuesta"))
    return service
