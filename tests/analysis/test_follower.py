"""A search that is summed up after each trial has the figures of its whole folder, and only new ones are derived."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuesta.analysis.step import StepRecords
from cuesta.analysis.summary import Follower, summarise
from cuesta.figures.step import StepFigures
from tests.meter_reports import meter_report
from tests.report import made_up
from tests.run_folder import CLOCK, NANO, Row, write_rows

TRIALS = made_up.TRIALS[:8]
TRIAL = 32
"""Seconds from the beginning of a trial to that of the next."""
FLUSHED = 0.5
"""A second of the host's meters that ends later than this after a trial is not recorded when the trial is judged."""


def whole_search(folder: Path) -> Path:
    """A search at a host whose meters report half a second after those of the driver."""
    made_up.search(folder, TRIALS)
    about, row, _ = (next(row for row in made_up.metered() if kind in row) for kind in ("about", "row", "sheet"))
    seconds = [CLOCK + (second + 1) * NANO + NANO * 7 // 10 for second in range(TRIAL * len(TRIALS))]
    ends = [CLOCK + (number + 1) * TRIAL * NANO for number in range(len(TRIALS))]
    reports = [{"step": number, "at": end, "sheet": meter_report(end)} for number, end in enumerate(ends)]
    metered = sorted([*(row | {"at": at} for at in seconds), *reports], key=lambda each: each["at"])
    write_rows(folder / "meters.jsonl", [about, *metered])
    (folder / "host").mkdir()
    write_rows(folder / "host" / "series.jsonl", [made_up.host_row(0) | {"at": at} for at in seconds])
    return folder


def grow(whole: Path, folder: Path) -> Iterator[int]:
    """Copy a search as it was recorded: each time with the next trial, and at last with its ending."""
    (folder / "agent-0").mkdir(parents=True)
    (folder / "host").mkdir()
    run, timeline = (json.loads((whole / name).read_text()) for name in ("run.json", "agent-0/timeline.json"))
    for number in range(len(run["steps"])):
        end = TRIAL * (number + 1) + FLUSHED
        (folder / "run.json").write_text(json.dumps(run | {"steps": run["steps"][: number + 1]}))
        steps = timeline["steps"][: number + 1]
        (folder / "agent-0" / "timeline.json").write_text(json.dumps(timeline | {"steps": steps}))
        for name in ("agent-0/series.jsonl", "agent-0/users.jsonl", "meters.jsonl", "host/series.jsonl"):
            rows = map(json.loads, (whole / name).read_text().splitlines())
            write_rows(folder / name, [row for row in rows if is_recorded(row, number, end)])
        log = (whole / "agent-0" / "histograms.hlog").read_text().splitlines(keepends=True)
        rows_so_far = (row for row in log if not row.startswith("Tag=") or float(row.split(",")[1]) + 1 <= end)
        (folder / "agent-0" / "histograms.hlog").write_text("".join(rows_so_far))
        yield number
    (folder / "agent-0" / "agent.json").write_text((whole / "agent-0" / "agent.json").read_text())
    yield len(run["steps"])


def is_recorded(row: Row, trial: int, end: float) -> bool:
    if "at" in row:
        return bool(row["at"] <= CLOCK + end * NANO)
    return bool(row["start"] + row["length"] <= end if "start" in row else row["step"] <= trial)


def test_a_search_that_is_followed_has_the_figures_of_its_whole_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    follower = Follower(folder)
    for _ in grow(whole_search(tmp_path / "whole"), folder):
        followed, whole = follower.summarise(), summarise(folder)
        assert followed.json() == whole.json()
        assert followed.doubts == whole.doubts
        assert followed.search is not None
        assert whole.search is not None
        assert followed.search.replay.rows == whole.search.replay.rows


def test_a_trial_costs_the_same_however_many_there_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    derived, parsed = list[int](), list[str]()
    figures, loads = StepRecords.figures, json.loads

    def derive(of: StepRecords) -> StepFigures:
        derived.append(of.number)
        return figures(of)

    def parse(text: str) -> object:
        parsed.append(text)
        return loads(text)

    monkeypatch.setattr(StepRecords, "figures", derive)
    folder = tmp_path / "run"
    follower, costs = Follower(folder), list[int]()
    for number in grow(whole_search(tmp_path / "whole"), folder):
        with monkeypatch.context() as counting:
            counting.setattr(json, "loads", parse)
            follower.summarise()
        if number < len(TRIALS):
            assert set(derived) <= {number - 1, number}, "the one before had not all of its records"
        costs.append(len(parsed))
        derived.clear()
        parsed.clear()
    later = costs[2:-1]
    assert max(later) - min(later) <= max(TRIALS), "each user has a row"
