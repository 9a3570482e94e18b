"""Marks and the cost of watching, read from run folders."""

import json
from pathlib import Path

from cuesta.ledger import RunReader, open_run
from cuesta.ledger.watching import RecordedMark, RecordedWatcher
from tests.run_folder import CLOCK, NANO, Row, RunFolder, write_rows


def of_two_segments(path: Path) -> Path:
    """A run whose second step is a segment of its own, 40 s after the first."""
    folder = RunFolder(path, measure=3).write()
    second = RunFolder(folder / "segment-1", measure=3).write()
    (second / "run.json").unlink()
    timeline = second / "agent-0" / "timeline.json"
    timeline.write_text(json.dumps(json.loads(timeline.read_text()) | {"start_at": CLOCK + 40 * NANO}))
    return folder


def cost(step: int, name: str, cpu: float) -> Row:
    return {
        "step": step,
        "name": name,
        "begin": {"at": CLOCK, "cpu": 7.0},
        "end": {"at": CLOCK + 2 * NANO, "cpu": 7 + cpu},
    }


def test_marks_of_all_segments_are_placed_in_the_run(tmp_path: Path) -> None:
    folder = of_two_segments(tmp_path / "run")
    write_rows(folder / "segment-1" / "marks.jsonl", [{"seconds": 1.5, "note": "b", "holds_starts": False}])
    write_rows(folder / "marks.jsonl", [{"seconds": 3.25, "note": "a"}])
    recorded = open_run(folder)
    assert recorded.marks == [RecordedMark(3.25, "a", None), RecordedMark(41.5, "b", False)]
    assert not recorded.damage


def test_what_watching_cost_is_that_of_the_step_of_the_run(tmp_path: Path) -> None:
    folder = of_two_segments(tmp_path / "run")
    write_rows(folder / "watchers.jsonl", [cost(0, "live view", 0.5), cost(0, "page", 0.25)])
    write_rows(folder / "segment-1" / "watchers.jsonl", [cost(0, "live view", 1.0)])
    assert open_run(folder).watchers == {
        0: [RecordedWatcher("live view", 2.0, 0.5), RecordedWatcher("page", 2.0, 0.25)],
        1: [RecordedWatcher("live view", 2.0, 1.0)],
    }


def test_a_row_that_is_cut_off_is_left_out_until_it_is_whole(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", measure=3).write()
    marks, rows = folder / "marks.jsonl", ['{"seconds": 1.0, "note": "a"}\n', '{"seconds": 2.0, "note": "b"}\n']
    marks.write_text(rows[0] + rows[1][:9])
    reader = RunReader(folder)
    recorded = reader.read()
    assert [mark.note for mark in recorded.marks] == ["a"]
    assert recorded.damage == ["run/marks.jsonl: the last row is cut off and left out"]
    marks.write_text("".join(rows))
    recorded = reader.read()
    assert [mark.note for mark in recorded.marks] == ["a", "b"]
    assert recorded.damage == []


def test_marks_of_a_segment_without_a_start_are_left_out(tmp_path: Path) -> None:
    folder = of_two_segments(tmp_path / "run")
    write_rows(folder / "segment-1" / "marks.jsonl", [{"seconds": 1.5, "note": "b"}])
    (folder / "segment-1" / "agent-0" / "timeline.json").unlink()
    assert open_run(folder).marks == []
