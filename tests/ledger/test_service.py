"""Opening profiles of a service."""

import json
from pathlib import Path

import pytest

from cuesta.errors import InputError
from cuesta.ledger.service import read_service_profile


def test_a_profile_is_read(tmp_path: Path) -> None:
    file = tmp_path / "service.profile"
    file.write_text(json.dumps({"format": 1, "recorded": "now", "machine": {"cpus": 2}, "sheet": {"seconds": 1.0}}))
    found = read_service_profile(file)
    assert (found.recorded, found.machine, found.report.seconds) == ("now", {"cpus": 2}, 1.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a profile of a service"),
        ("[1]", "not a profile of a service"),
        ('{"format": 1}', "not a profile of a service"),
        ('{"format": 2, "cuesta": "9.0", "recorded": "", "machine": {}, "sheet": {}}', "is of format 2"),
    ],
)
def test_a_file_that_is_not_a_profile_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(InputError, match=said):
        read_service_profile(tmp_path / "file")


def test_a_missing_profile_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_service_profile(tmp_path / "file")
