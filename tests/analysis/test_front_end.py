"""The front end's report of a record with known figures."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.analysis.front_end import derive_front_end
from cuesta.cli import main
from cuesta.errors import Exit
from cuesta.ledger import open_run
from cuesta.report.front_end import text
from tests.report.made_up import bad, good


def test_a_host_of_an_earlier_version_has_none(tmp_path: Path) -> None:
    folder = good(tmp_path / "run")
    rows = folder / "host" / "series.jsonl"
    rows.write_text(rows.read_text().replace('"waited_seconds": 0.25', '"before": 0.25'))
    recorded = open_run(folder)
    assert derive_front_end(recorded, recorded.steps[0]) is None


def test_the_printed_report(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    recorded = open_run(good(tmp_path / "run"))
    found = derive_front_end(recorded, recorded.steps[0])
    assert found
    assert "\n" + text(found) + "\n" == snapshot


def test_the_front_end_report_is_read_from_a_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meters", "--front-end", str(good(tmp_path / "run"))]) == Exit.GOOD
    assert "conversion factors" in capsys.readouterr().out
    assert main(["meters", "--front-end", str(bad(tmp_path / "other"))]) == Exit.BAD_INPUT
    assert "recorded no meters" in capsys.readouterr().err
