"""What those who watch a run leave in its folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuesta.engine.console import LONGEST_NOTE, Console, Mark, Requests
from cuesta.engine.job import prepare
from cuesta.engine.run_job import run_job
from cuesta.engine.watching import SECOND, WatchRecord
from cuesta.ledger import open_run
from cuesta.plan import RawOptions, load
from cuesta.records.messages import EngineMessage, WatchOrder
from cuesta.records.observation import Observation
from tests.busy import BUSY
from tests.conftest import Write

START = 100 * SECOND


@dataclass
class MadeUpWatcher:
    """Uses a second of CPU time from one time that it is asked to the next."""

    name: str = "live view"
    used: float = 0.0

    def cpu(self) -> float:
        self.used += 1.0
        return self.used


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in file.read_text().splitlines()]


def record(folder: Path, *watchers: MadeUpWatcher) -> WatchRecord:
    """The record of two steps that are measured from 2 s to 5 s, and from 6 s to 9 s."""
    made = WatchRecord(folder, START, watchers)
    made.expect(0, 2 * SECOND, 5 * SECOND)
    made.expect(1, 6 * SECOND, 9 * SECOND)
    return made


def look_at(made: WatchRecord, *seconds: float) -> None:
    for each in seconds:
        made.look(START + round(each * SECOND))


def test_a_step_has_a_row_for_each_who_watched_with_readings_at_both_bounds(tmp_path: Path) -> None:
    made = record(tmp_path, MadeUpWatcher(), MadeUpWatcher("page", 40.0))
    look_at(made, 0.5, 1.9, 2.1, 2.4, 4.9)
    assert not (tmp_path / "watchers.jsonl").exists()
    look_at(made, 5.2, 6.0, 9.0, 9.3)
    begin, end = ({"at": START + round(at * SECOND), "cpu": cpu} for at, cpu in ((2.1, 1.0), (5.2, 2.0)))
    first, page, *others = rows(tmp_path / "watchers.jsonl")
    assert first == {"step": 0, "name": "live view", "begin": begin, "end": end}
    assert (page["name"], page["begin"]["cpu"], page["end"]["cpu"]) == ("page", 41.0, 42.0)
    assert [(row["step"], row["begin"]["cpu"]) for row in others] == [(1, 3.0), (1, 43.0)]


def test_a_look_that_comes_late_ends_a_step_and_begins_the_next(tmp_path: Path) -> None:
    made = record(tmp_path, MadeUpWatcher())
    look_at(made, 2.1, 7.0, 9.5)
    assert [(row["step"], row["end"]["at"] - row["begin"]["at"]) for row in rows(tmp_path / "watchers.jsonl")] == [
        (0, 4.9 * SECOND),
        (1, 2.5 * SECOND),
    ]


def test_a_step_that_is_stopped_is_recorded_until_then(tmp_path: Path) -> None:
    made = record(tmp_path, MadeUpWatcher())
    look_at(made, 2.1)
    made.close(START + 3 * SECOND)
    (row,) = rows(tmp_path / "watchers.jsonl")
    assert row["end"] == {"at": START + 3 * SECOND, "cpu": 2.0}


def test_a_step_that_did_not_begin_has_no_row_and_neither_has_a_run_without_watchers(tmp_path: Path) -> None:
    made = record(tmp_path, MadeUpWatcher())
    look_at(made, 1.0)
    made.close(START + SECOND)
    look_at(record(tmp_path), 2.1, 5.1, 9.1)
    assert not list(tmp_path.iterdir())


def test_marks_count_from_the_start_and_none_is_before_it(tmp_path: Path) -> None:
    made = record(tmp_path)
    made.note([Mark(START - SECOND, "early", True), Mark(START + SECOND // 2, "deploy of v2")])
    made.note([])
    assert rows(tmp_path / "marks.jsonl") == [
        {"seconds": 0.0, "note": "early", "holds_starts": True},
        {"seconds": 0.5, "note": "deploy of v2"},
    ]


def test_a_note_is_one_row_that_controls_nothing_and_is_cut() -> None:
    requests = Requests()
    requests.mark("  red \x1b[31m\n\tand \u202eback  ")
    requests.mark("x" * 1000)
    assert [mark.note for mark in requests.take_marks()] == ["red \ufffd[31m and \ufffdback", "x" * LONGEST_NOTE]
    assert requests.take_marks() == []


def test_agents_that_start_later_hold_starts_too() -> None:
    requests = Requests()
    requests.hold_starts(True)
    assert requests.take_orders() == [EngineMessage(hold_starts=True)] == requests.standing()
    requests.watch("a viewer", [3])
    assert requests.standing() == [EngineMessage(watch=WatchOrder(users=(3,))), EngineMessage(hold_starts=True)]
    requests.hold_starts(False)
    assert requests.standing() == [EngineMessage(watch=WatchOrder(users=(3,)))]
    assert [mark.holds_starts for mark in requests.take_marks()] == [True, False]


PLAN = (
    """
tape = "row.tape"
users = 2
stagger = "10ms"
settle = "500ms"
measure = "2s"
meters = "none"
"""
    + BUSY
)


def test_a_run_has_the_marks_and_the_cost_of_those_who_watched(here: Path, write: Write) -> None:
    write("row.tape", 'Transaction "row"\n  Type "abc"\n  Enter\n  Wait+Bytes 20\nEnd\n')
    job = prepare(load(RawOptions(plan=write("plan.toml", PLAN)), here))
    requests, noted = Requests(), list[str]()

    def mark_phases(seen: Observation) -> None:
        for snapshot in seen.snapshots:
            if snapshot.phase and snapshot.phase not in noted:
                noted.append(snapshot.phase)
                requests.mark(f"seen to {snapshot.phase}")

    result = run_job(job, here / "out", Console(mark_phases, requests=requests, watchers=[MadeUpWatcher()]))
    assert not result.failures
    recorded = open_run(here / "out")
    assert not recorded.damage
    assert [mark.note for mark in recorded.marks] == [f"seen to {phase}" for phase in noted]
    assert "measure" in noted
    times = recorded.steps[0]
    measuring = next(mark for mark in recorded.marks if mark.note == "seen to measure")
    assert measuring.at > times.settled
    (watcher,) = recorded.watchers[0]
    assert (watcher.name, watcher.cpu) == ("live view", 1.0)
    assert watcher.seconds > 0
