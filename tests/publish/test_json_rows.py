"""The rows that a pipe is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from cuesta.json_text import json_text
from cuesta.live.view import merge
from cuesta.publish.json_rows import MOMENT, OTHERS, JsonRows
from cuesta.records.observation import Observation
from cuesta.records.reading import from_json
from cuesta.records.rows import MeterRecord
from tests.snapshots import observation, snapshot

WAITING = {"answers": 2, "prompts": 0, "echoes": 1, "keys": 1, "oldest": 4.0}


def rows_of(rows: JsonRows, seen: Observation) -> list[dict[str, Any]]:
    """The rows as a program reads them."""
    view = merge(seen)
    assert view
    return [json.loads(json_text(row)) for row in rows.take(view)]


def test_a_moment_has_the_figures_of_its_last_interval() -> None:
    moment = snapshot(echo=[0.1] * 9 + [0.2], keys=30, cpu=0.5, doing={"keying": 1, "unstarted": 4}, waiting=WAITING)
    without_meters = from_json(MeterRecord, {"at": 0, "gap": "no meters\x1b"})
    step, row = rows_of(JsonRows(), Observation(snapshots=[moment], meters=[without_meters]))
    assert step == {"kind": "step", "seconds": 10.0, "step": 0, "load": 5}
    assert row == {
        "kind": "moment",
        "seconds": 10.0,
        "total": 30.0,
        "phase": "measure",
        "step": 0,
        "steps": 1,
        "users": 3,
        "load": 5,
        "users_by_activity": {"keying": 1, "unstarted": 4},
        "transactions": {"per_s": 5.0},
        "keys": {"per_s": 30.0},
        "response": None,
        "echo": pytest.approx({"count": 10, "p50": 0.1, "p95": 0.2, "p99": 0.2}, rel=0.001),
        "lateness": None,
        "errors": {"count": 1},
        "waiting": {"users": 2, "longest": 4.0},
        "driver": {"cpu": 0.5},
        "hosts": [{"cpu": {"usr": None, "sys": None, "idle": None}, "cpu_by_cause": {}, "why": "no meters�"}],
    }


def test_a_moment_is_told_once() -> None:
    rows = JsonRows()
    kinds = [[row["kind"] for row in rows_of(rows, observation(seconds=at))] for at in (1.0, 1.0, 2.0)]
    assert kinds == [["step", "moment"], [], ["moment"]]


def test_steps_and_runs_begin_with_a_row() -> None:
    rows = JsonRows()
    moments = [(1.0, 0), (2.0, 0), (3.0, 1), (1.0, 1)]
    steps = [any(row["kind"] == "step" for row in rows_of(rows, observation(seconds=s, step=n))) for s, n in moments]
    assert steps == [True, False, True, True], "time that begins again is another run's"


def test_a_step_begins_once_its_users_are_known() -> None:
    rows = JsonRows()
    assert [row["kind"] for row in rows_of(rows, observation(seconds=0.0, phase=None, users=0))] == ["moment"]
    step, _ = rows_of(rows, observation(seconds=1.0, phase="settle", doing={"keying": 1, "unstarted": 4}))
    assert (step["kind"], step["load"]) == ("step", 5)


def test_marks_and_sentences_are_rows_with_the_time_of_the_run() -> None:
    rows = JsonRows()
    rows_of(rows, observation(seconds=7.0))
    assert rows.mark("cold\x1b[2J") == {"kind": "mark", "seconds": 7.0, "note": "cold�[2J"}
    assert rows.tell("trial 1: kept") == {"kind": "told", "seconds": 7.0, "text": "trial 1: kept"}


def test_the_last_row_has_the_summary(tmp_path: Path) -> None:
    rows = JsonRows()
    rows_of(rows, observation(seconds=7.0))
    assert rows.end(tmp_path) == {"kind": "end", "seconds": 7.0, "folder": str(tmp_path), "summary": None}
    (tmp_path / "summary.json").write_text('{"valid": true}')
    assert rows.end(tmp_path)["summary"] == {"valid": True}


def test_each_field_and_kind_has_a_meaning() -> None:
    assert all(field.meaning for field in MOMENT)
    assert len({field.name for field in MOMENT}) == len(MOMENT)
    assert set(OTHERS) == {"step", "mark", "told", "end"}
