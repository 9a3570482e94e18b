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
def front_end_report(tmp_path: Path) -> FrontEnd:
    recorded = open_run(good(tmp_path / "run"))
    found = front_end(recorded, recorded.steps[0])
    assert found
    return found


def test_times_between_events(front_end_report: FrontEnd) -> None:
    assert (front_end_report.atb["writes"], front_end_report.atb["cycle"]) == pytest.approx((0.1, 0.5))
    assert front_end_report.atb["dialups"] is None


def test_time_per_terminal_is_time_per_system_times_terminals(front_end_report: FrontEnd) -> None:
    assert front_end_report.dialed == pytest.approx(4)
    assert front_end_report.per_terminal("writes") == pytest.approx(0.4)
    assert front_end_report.per_terminal("dialups") is None
    assert front_end_report.terminal_hours == pytest.approx(4 * 30 / 3600)


def test_conversion_factors(front_end_report: FrontEnd) -> None:
    assert (front_end_report.output_conversion, front_end_report.input_conversion) == pytest.approx((1.0, 10 / 26))
    assert (front_end_report.ave_input_message, front_end_report.ave_output_message) == pytest.approx((5, 150))


def test_processing(front_end_report: FrontEnd) -> None:
    assert (front_end_report.interrupt_average, front_end_report.interrupt_share) == pytest.approx((0.000_25, 0.01))
    assert front_end_report.characters_per_ms["total"] == pytest.approx(31)
    assert front_end_report.writes.average == pytest.approx(0.0002)
    assert front_end_report.writes.characters_per_ms == pytest.approx(160)
    assert front_end_report.idle == [pytest.approx(0.98)]


def test_read_ahead(front_end_report: FrontEnd) -> None:
    assert (front_end_report.ahead_average, front_end_report.ahead_share) == pytest.approx((5, 0.5))
    assert front_end_report.ahead_waiting == pytest.approx(0.25)


def test_a_host_of_an_earlier_version_has_none(tmp_path: Path) -> None:
    folder = good(tmp_path / "run")
    rows = folder / "host" / "series.jsonl"
    rows.write_text(rows.read_text().replace('"waited_seconds"', '"before"'))
    recorded = open_run(folder)
    assert front_end(recorded, recorded.steps[0]) is None


def test_the_printed_report(front_end_report: FrontEnd, snapshot: SnapshotAssertion) -> None:
    assert "\n" + text(front_end_report) + "\n" == snapshot


def test_the_front_end_report_is_read_from_a_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meters", "--front-end", str(good(tmp_path / "run"))]) == Exit.GOOD
    assert "conversion factors" in capsys.readouterr().out
    assert main(["meters", "--front-end", str(bad(tmp_path / "other"))]) == Exit.BAD_INPUT
    assert "recorded no meters" in capsys.readouterr().err
