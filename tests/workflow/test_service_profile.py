"""Recording the profile of a live service."""

import json
from pathlib import Path

import pytest

from cuesta.errors import RefusedError
from cuesta.workflow.control import ignore
from cuesta.workflow.service_profile import record_profile
from tests.meter_reports import meter_report, missing


class Gone:
    """Meters of a process that has ended."""

    def snapshot(self) -> str:
        return "{}"

    def report(self, since: str | None = None) -> str:
        assert since is None
        document = meter_report()
        return json.dumps({**document, "own": {name: missing("process 4711 has ended") for name in document["own"]}})


def test_a_subject_that_has_ended_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="nothing recorded of pid:4711: process 4711 has ended"):
        record_profile(Gone(), tmp_path / "service.profile", ignore)
    assert not (tmp_path / "service.profile").exists()
