"""Searches with loads that a test chooses: what is measured of each, and what is left behind."""

import json
from pathlib import Path
from typing import Any

import pytest

from cuesta.engine.console import Console
from cuesta.engine.job import prepare
from cuesta.engine.search import LONGEST, NextTrial, SearchJob, search
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
"""A pass takes 5.5 s, longer than a load is watched for (`settles_quickly`), and less than it may take to settle."""
QUICK_PASS = LONG_PASS.replace("2cps", "20cps")


def plan(folder: Path, users: int, tape: str = LONG_PASS, **more: object) -> Plan:
    (folder / "row.tape").write_text(tape)
    flags = {"users": str(users), "settle": "1s", "measure": "3s", "stagger": "10ms", **more}
    return load(RawOptions(tape=str(folder / "row.tape"), flags=flags), folder)


def measure(planned: Plan, folder: Path, *trials: NextTrial) -> Path:
    """Make the trials in turn; returns the run folder."""
    waiting = list(trials)
    job = SearchJob(prepare(planned), planned.steps[0], {})
    found = search(job, folder / "run", lambda _: waiting.pop(0) if waiting else None, Console())
    assert not found.failures
    return found.folder


@pytest.fixture
def settles_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A load is watched for 4 s, and may take 7 s to settle."""
    monkeypatch.setattr(f"{search.__module__}.LEAST_WINDOW", 2)
    monkeypatch.setattr(f"{search.__module__}.LONGEST", 7)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in file.read_text().splitlines()]


@pytest.mark.usefixtures("settles_quickly")
def test_a_smaller_load_is_measured_when_the_others_have_ended_their_pass(tmp_path: Path) -> None:
    planned = plan(tmp_path, 6)
    folder = measure(planned, tmp_path, *(NextTrial(at_load(planned.settings, load), {}) for load in (6.0, 2.0)))
    measured = [row for row in rows(folder / "agent-0" / "series.jsonl") if row["phase"] == "measure"]
    assert {(row["step"], row["users"], row["active"]) for row in measured} == {(0, 6, 6), (1, 2, 2)}
    settled, end = (instant(folder, 1, name) for name in ("settled", "end"))
    at_host = [
        row["lines"]["connected"] for row in rows(folder / "host" / "series.jsonl") if settled < row["at"] <= end
    ]
    assert set(at_host) == {2}, "by the host's own count"


@pytest.mark.nightly
def test_a_host_that_has_to_recover_is_measured_when_it_answers(tmp_path: Path) -> None:
    """It stands still for longer than a load may take to settle."""
    planned = plan(tmp_path, 2, QUICK_PASS, host={"stall": "9s for 22s"})
    first, second = (NextTrial(planned.steps[0], {}, is_recovery=waits) for waits in (False, True))
    folder = measure(planned, tmp_path, first, second)
    series = [row for row in rows(folder / "agent-0" / "series.jsonl") if row["step"] == 1]
    unanswered = [row for row in series if row["phase"] == "settle" and not row["transactions"]]
    assert len(unanswered) > LONGEST
    assert sum(row["transactions"] for row in series if row["phase"] == "measure") > 0


@pytest.mark.nightly
def test_what_an_open_load_left_undone_is_worked_off_before_the_next_trial(tmp_path: Path) -> None:
    """A server of 10 rows a second is asked for 25, and then for 4: the 100 rows that wait by then take it 10 s."""
    tape = 'Transaction "row"\n  Type "a row"\n  Enter\n  Wait+Bytes@60s 152\nEnd\n'
    planned = plan(tmp_path, 100, tape, load="open:25/s", host={"service_time": "fixed 100ms"})
    first, second = (at_load(planned.settings, load) for load in (25.0, 4.0))
    folder = measure(planned, tmp_path, NextTrial(first, {}), NextTrial(second, {}, drains=True))
    backlog = json.loads((folder / "run.json").read_text())["steps"][1]["trial"]["backlog"]
    assert backlog["drained"]
    assert backlog["seconds"] > 3
    measured = [
        row
        for row in rows(folder / "agent-0" / "series.jsonl")
        if row["phase"] == "measure" and row["step"] == 1 and row["transactions"]
    ]
    mean = sum(row["sums"]["response"] for row in measured) / sum(row["transactions"] for row in measured)
    assert mean < 1.0


def instant(run: Path, step: int, name: str) -> int:
    """One of a step's instants, on the clock."""
    timeline = json.loads((run / "agent-0" / "timeline.json").read_text())
    at: int = timeline["start_at"] + timeline["steps"][step][name]
    return at


def test_a_start_that_failed_leaves_no_segment(tmp_path: Path) -> None:
    """Processes that were killed before the first trial have made their folders already."""
    (step,) = plan(tmp_path, 2).steps
    with search_folder(tmp_path / "run") as folder:
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
    with search_folder(tmp_path / "run") as folder:
        (folder / "run.json").write_text("{}")
        with pytest.raises(CuestaError, match="going on in another process"), search_folder(folder):
            raise AssertionError("two searches would write to one folder")
    with search_folder(folder):
        pass
