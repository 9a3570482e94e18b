"""The front end's report of a record with known figures."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.analysis.front_end import FrontEnd, front_end
from cuesta.cli import main
from cuesta.errors import Exit
from cuesta.ledger import open_run
from cuesta.report.front_end import text
from tests.report.made_up import bad, good


@pytest.fixture
def sheet(tmp_path: Path) -> FrontEnd:
    recorded = open_run(good(tmp_path / "run"))
    found = front_end(recorded, recorded.steps[0])
    assert found
    return found


def test_times_between_events(sheet: FrontEnd) -> None:
    assert (sheet.atb["writes"], sheet.atb["cycle"]) == pytest.approx((0.1, 0.5))
    assert sheet.atb["dialups"] is None


def test_time_per_terminal_is_time_per_system_times_terminals(sheet: FrontEnd) -> None:
    assert sheet.dialed == pytest.approx(4)
    assert sheet.per_terminal("writes") == pytest.approx(0.4)
    assert sheet.per_terminal("dialups") is None
    assert sheet.terminal_hours == pytest.approx(4 * 30 / 3600)


def test_conversion_factors(sheet: FrontEnd) -> None:
    assert (sheet.output_conversion, sheet.input_conversion) == pytest.approx((1.0, 10 / 26))
    assert (sheet.ave_input_message, sheet.ave_output_message) == pytest.approx((5, 150))


def test_processing(sheet: FrontEnd) -> None:
    assert (sheet.interrupt_average, sheet.interrupt_share) == pytest.approx((0.000_25, 0.01))
    assert sheet.characters_per_ms["total"] == pytest.approx(31)
    assert sheet.writes.average == pytest.approx(0.0002)
    assert sheet.writes.characters_per_ms == pytest.approx(160)
    assert sheet.idle == [pytest.approx(0.98)]


def test_read_ahead(sheet: FrontEnd) -> None:
    assert (sheet.ahead_average, sheet.ahead_share) == pytest.approx((5, 0.5))
    assert sheet.ahead_waiting == pytest.approx(0.25)


def test_a_host_of_an_earlier_version_has_none(tmp_path: Path) -> None:
    folder = good(tmp_path / "run")
    rows = folder / "host" / "series.jsonl"
    rows.write_text(rows.read_text().replace('"waited_seconds"', '"before"'))
    recorded = open_run(folder)
    assert front_end(recorded, recorded.steps[0]) is None


def test_the_printed_report(sheet: FrontEnd, snapshot: SnapshotAssertion) -> None:
    assert "\n" + text(sheet) + "\n" == snapshot


def test_the_front_end_report_is_read_from_a_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meters", "--front-end", str(good(tmp_path / "run"))]) == Exit.GOOD
    assert "conversion factors" in capsys.readouterr().out
    assert main(["meters", "--front-end", str(bad(tmp_path / "other"))]) == Exit.BAD_INPUT
    assert "recorded no meters" in capsys.readouterr().err
