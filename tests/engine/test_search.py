"""Searches with loads that a test chooses: what is measured of each, and what is left behind."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from cuesta.engine.job import prepare
from cuesta.engine.search import NextTrial, SearchJob, search
from cuesta.engine.search_folder import begin_segment, describe_search, record_trial, search_folder
from cuesta.errors import CuestaError
from cuesta.plan import Plan, RawOptions, load
from cuesta.plan.sweep import at_load

LONG_PASS = """
Set KeyRate 2cps
Forever
  Transaction "row"
    Type "a long row"
    Enter
    Wait+Bytes@5s 6
  End
End
"""
"""A pass takes 5.5 s."""


def plan(folder: Path, users: int) -> Plan:
    (folder / "row.tape").write_text(LONG_PASS)
    flags = {"users": str(users), "settle": "1s", "measure": "3s", "stagger": "10ms"}
    return load(RawOptions(tape=str(folder / "row.tape"), flags=flags), folder)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in file.read_text().splitlines()]


def test_a_smaller_load_is_measured_when_the_others_have_ended_their_pass(tmp_path: Path) -> None:
    planned = plan(tmp_path, 6)
    loads = [6.0, 2.0]

    def choose(_: Path) -> NextTrial | None:
        return NextTrial(at_load(planned.settings, loads.pop(0)), {}) if loads else None

    job = SearchJob(prepare(planned), planned.steps[0], {})
    found = search(job, tmp_path / "run", choose, lambda _: None, threading.Event())
    assert not found.failures
    measured = [row for row in rows(found.folder / "agent-0" / "series.jsonl") if row["phase"] == "measure"]
    assert {(row["step"], row["users"], row["active"]) for row in measured} == {(0, 6, 6), (1, 2, 2)}
    settled, end = (instant(found.folder, 1, name) for name in ("settled", "end"))
    at_host = [
        row["lines"]["connected"] for row in rows(found.folder / "host" / "series.jsonl") if settled < row["at"] <= end
    ]
    assert set(at_host) == {2}, "by the host's own count"


def instant(run: Path, step: int, name: str) -> int:
    """One of a step's instants, on the clock."""
    timeline = json.loads((run / "agent-0" / "timeline.json").read_text())
    at: int = timeline["start_at"] + timeline["steps"][step][name]
    return at


def test_a_start_that_failed_leaves_no_segment(tmp_path: Path) -> None:
    """Processes that were killed before the first trial have made their folders already."""
    (step,) = plan(tmp_path, 2).steps
    with search_folder(prepare(plan(tmp_path, 2)), tmp_path / "run") as folder:
        (folder / "run.json").write_text("{}")
        describe_search(folder, {})
        for trials in (0, 1):
            for _ in range(2):
                segment = begin_segment(folder, step)
                (folder / segment.folder / "host").mkdir(parents=True)
                (folder / segment.folder / "agent-1").mkdir()
            assert [each["folder"] for each in json.loads((folder / "run.json").read_text())["segments"]] == [
                ".",
                "segment-1",
            ][: trials + 1]
            record_trial(folder, step, {})
    assert len(json.loads((folder / "run.json").read_text())["steps"]) == 2


def test_one_search_at_a_time_goes_on_in_a_folder(tmp_path: Path) -> None:
    job = prepare(plan(tmp_path, 2))
    with search_folder(job, tmp_path / "run") as folder:
        (folder / "run.json").write_text("{}")
        with pytest.raises(CuestaError, match="going on in another process"), search_folder(job, folder):
            raise AssertionError("two searches would write to one folder")
    with search_folder(job, folder):
        pass
