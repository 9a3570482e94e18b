from pathlib import Path

import pytest

from cuesta.analysis.published_tables import compare_tables
from cuesta.analysis.summary import summarise
from tests.analysis.features.test_batching import busy
from tests.report.made_up import batching
from tests.run_folder import edit_run


def test_a_table_has_the_published_and_the_measured_numbers_of_users(tmp_path: Path) -> None:
    """Of steps without TMux: with it a response takes 40 ms, without it 1 ms."""
    (found,) = compare_tables(summarise(batching(tmp_path / "run")))
    assert [(row.given, row.steps) for row in found.rows] == [
        ({"ports": 20}, 0),
        ({"ports": 25}, 4),
        ({"ports": 400}, 4),
    ]
    missed, both, more = found.rows
    assert missed.measured == {"usr": None, "sys": None, "response": None}
    assert missed.published == {"usr": 5, "sys": 43, "response": 29}
    assert both.measured == pytest.approx({"usr": 20.0, "sys": 11.0, "response": 1.0}, rel=0.001)
    assert more.measured["response"] == pytest.approx(1.0, rel=0.001)
    assert both.published == {"usr": 6, "sys": 53, "response": 40}
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
    (found,) = compare_tables(summary)
    assert ([row.steps for row in found.rows], found.doubted) == ([0, 3, 4], 1)


def test_of_a_run_in_doubt_nothing_is_shown_beside(tmp_path: Path) -> None:
    folder = batching(tmp_path / "run")
    (folder / "agent-0" / "agent.json").unlink()
    (found,) = compare_tables(summarise(folder))
    assert ([row.steps for row in found.rows], found.doubted) == ([0, 0, 0], 8)
    assert found.rows[1].measured["usr"] is None


def test_rows_that_the_plan_names_are_beside_the_steps_with_their_settings(tmp_path: Path) -> None:
    folder = batching(tmp_path / "run")
    with edit_run(folder) as run:
        (entry,) = run["plan"]["published_table"]
        names = [f"row_{number}" for number, _ in enumerate(entry["table"]["rows"])]
        entry["table"] |= {"names": names, "columns": ["ports", "printed", *entry["table"]["columns"][2:]]}
        for cells in entry["table"]["rows"]:
            cells[1] = "<15%"
        entry["rows"] = {names[1]: {"tmux": "20ms", "users": "400"}}
        entry["when"], entry["columns"] = {}, {"response": ["response.mean"]}
    (found,) = compare_tables(summarise(folder))
    (only,) = found.rows
    assert (only.name, only.steps, only.given["printed"], only.given["ports"]) == (names[1], 4, "<15%", 25)
    assert only.measured == pytest.approx({"response": 40}, rel=0.01)
    assert only.published == {"response": 40}
