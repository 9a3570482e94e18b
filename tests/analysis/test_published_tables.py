from pathlib import Path

import pytest

from cuesta.analysis import summarise
from cuesta.analysis.published_tables import tables_beside
from tests.analysis.test_batching import busy
from tests.report.made_up import batching


def test_a_table_has_the_published_and_the_measured_numbers_of_users(tmp_path: Path) -> None:
    (found,) = tables_beside(summarise(batching(tmp_path / "run")))
    assert [(row.users, row.steps) for row in found.rows] == [(20, 0), (25, 4), (400, 4)]
    missed, both, more = found.rows
    assert missed.measured == {"usr": None, "sys": None, "response": None}
    assert missed.published == {"usr": 5, "sys": 43, "response": pytest.approx(0.029)}
    assert both.measured == pytest.approx({"usr": 20.0, "sys": 11.0, "response": 0.001}, rel=0.001)
    assert both.published == {"usr": 6, "sys": 53, "response": pytest.approx(0.040)}
    assert (more.published, more.also["wire.packets_per_keystroke"]) == ({}, 3)
    assert both.also["host.cpu_per_keystroke"] == pytest.approx(100e-6)
    assert both.also["tmux.segments_per_datagram"] is None


def test_steps_in_doubt_are_left_out(tmp_path: Path) -> None:
    """Of four repeats at 25 users without TMux the first had a busy driver, and took longer."""
    folder = batching(tmp_path / "run")
    series = folder / "agent-0" / "series.jsonl"
    rows = series.read_text().splitlines()
    series.write_text("".join(f"{busy(row) if number < 7 else row}\n" for number, row in enumerate(rows)))
    summary = summarise(folder)
    assert {each.step for each in summary.doubts} == {0}
    (found,) = tables_beside(summary)
    assert ([row.steps for row in found.rows], found.doubted) == ([0, 3, 4], 1)


def test_of_a_run_in_doubt_nothing_is_shown_beside(tmp_path: Path) -> None:
    folder = batching(tmp_path / "run")
    (folder / "agent-0" / "agent.json").unlink()
    (found,) = tables_beside(summarise(folder))
    assert ([row.steps for row in found.rows], found.doubted) == ([0, 0, 0], 8)
    assert found.rows[1].measured["usr"] is None


def test_steps_with_other_settings_are_not_in_it(tmp_path: Path) -> None:
    """Without TMux a response takes 1 ms, with it 40 ms."""
    (found,) = tables_beside(summarise(batching(tmp_path / "run")))
    assert [row.measured["response"] for row in found.rows[1:]] == pytest.approx([0.001, 0.001], rel=0.001)
