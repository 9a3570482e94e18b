"""Runs and certifications as rows: every column is filled, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis import sql_rows
from cuesta.analysis.certify.record import derive_measurements
from cuesta.ledger.database import Database
from cuesta.ledger.record import CertificationSetup, Method, Record, RecordFigure, RunRow, Workload
from cuesta.ledger.tables import TABLES
from tests.certification_runs import trial
from tests.meter_reports import meter_report
from tests.run_folder import RunFolder, write_rows

NONE = RecordFigure(why="no such phase")


def record() -> Record:
    """Make up the fields of a certification's record that rows contain."""
    absent: dict[str, Any] = dict.fromkeys(("creation", "creation_cpu", "command_cpu", "completion", "steal"), NONE)
    given: dict[str, Any] = {"kind": "benchmark", "system": "1.0", "plan": "p", "group": "g"}
    given |= {"started": "2026-01-02T03:04:05Z", "cuesta": "0.1.0"}
    work: dict[str, Any] = {"users": 20, "attached": "FSIM", "sha256": "5da9"}
    run: dict[str, Any] = {
        "folder": "run-1",
        "transactions": 20,
        "command": RecordFigure(value=2.0),
        "idle": RecordFigure(value=0.1),
    }
    method: dict[str, Any] = {"runs": 1, "excluded": {"run-2": ["too late"]}}
    parts: dict[str, Any] = {
        "given": CertificationSetup.model_construct(**given),
        "workload": Workload.model_construct(**work),
        "method": Method.model_construct(**method),
        "runs": [RunRow.model_construct(**run, **absent)],
        "measurements": derive_measurements([trial()], None),
        "grade": "estimate",
        "because": ["1 run"],
        "warnings": [],
    }
    return Record.model_construct(**parts)


@pytest.fixture
def certification(monkeypatch: pytest.MonkeyPatch) -> sql_rows.Rows:
    monkeypatch.setattr(sql_rows, "open_certification", lambda folder: folder)
    monkeypatch.setattr(sql_rows, "derive_record", lambda _: record())
    return sql_rows.rows_of_certification(Path("c"))


@pytest.fixture
def run(tmp_path: Path) -> sql_rows.Rows:
    published = {"what": "x", "figure": "response.mean", "value": "1s", "source": "s"}
    folder = RunFolder(tmp_path / "run", measure=3, limits=("response.p50 < 1s",), published=(published,)).write()
    write_rows(folder / "marks.jsonl", [{"seconds": 4.5, "note": "deploy of v2"}])
    return sql_rows.rows_of_run(folder)


def columns(table: str) -> set[str]:
    return {each.name for each in TABLES[table].columns}


def test_exactly_the_columns_of_a_run_are_filled(run: sql_rows.Rows) -> None:
    assert set(run) == {
        *("runs", "steps", "hosts", "classes", "causes", "limits", "meters", "published", "intervals", "marks")
    }
    for table in set(run) - {"causes", "meters", "hosts"}:  # the run was not metered
        assert {name for row in run[table] for name in row} == columns(table), table


def test_exactly_the_columns_of_a_certification_are_filled(certification: sql_rows.Rows) -> None:
    assert set(certification) == {"certifications", "certified_runs", "measurements"}
    for table, rows in certification.items():
        assert {name for row in rows for name in row} | {"damage"} == columns(table) | {"damage"}, table


def test_a_certification_can_be_queried(certification: sql_rows.Rows) -> None:
    with Database.at(None) as database:
        database.replace_rows("c", "x", certification)
        joined = "certifications join measurements using (folder) where name = 'Total CPU time charged'"
        sql = f"select system, started::varchar, elapsed, excluded, why is null from {joined}"
        assert database.fetch(sql).rows == [("1.0", "2026-01-02 03:04:05", 2.0, 1, True)]


def test_marks_can_be_queried(run: sql_rows.Rows) -> None:
    with Database.at(None) as database:
        database.replace_rows("run", "x", run)
        assert database.fetch("select step, seconds, note from marks").rows == [(0, 4.5, "deploy of v2")]


def test_each_figure_of_a_meter_report_is_a_row_with_tier_or_reason() -> None:
    rows = list(sql_rows.list_meters(2, meter_report()))
    by_name = {row["meter"]: row for row in rows}
    assert by_name["cpu.usr"] == {"step": 2, "meter": "cpu.usr", "value": 20.0, "tier": "plain", "why": None}
    assert by_name["counts.minor_faults.per_s"]["value"] == 20.0
    assert by_name["counts.wakeups"]["value"] is None
    assert "CONFIG_SCHEDSTATS" in by_name["counts.wakeups"]["why"]
    assert {name for row in rows for name in row} | {"folder"} == columns("meters")


def test_an_unreadable_folder_is_one_row_with_the_reason(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", measure=3).write()
    (folder / "run.json").write_text('{"format": 1, "plan": 7}')
    (row,) = sql_rows.rows_of_run(folder)["runs"]
    assert row["damage"].startswith("cannot be read: ")
    (row,) = sql_rows.rows_of_certification(folder)["certifications"]
    assert "there is no certification.json in it" in row["damage"]
