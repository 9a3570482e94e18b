"""Open loads: what became of what was due, and what was skipped."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.overload import above_capacity
from cuesta.analysis.summary import Summary, summarise
from tests.analysis.open_loop import OpenLoad, open_loop
from tests.run_folder import Row, RunFolder, arrivals, measured


def run(folder: Path, edit: Callable[[Row], Row], load: str = "open:5/s", **made: Any) -> Summary:
    return summarise(RunFolder(folder / "run", edit=edit, load=load, limits=("throughput > 0",), **made).write())


SESSIONS, SOME_ALLOWED = "open:5/s:sessions", {"skipped": 0.05}


@pytest.mark.parametrize(
    ("due", "made", "said", "kept"),
    [
        (arrivals(200, done=150, failed=3, under_way=3, waiting=45, skipped=2), {"validity": SOME_ALLOWED}, [], True),
        (
            arrivals(200, done=196, under_way=3),
            {"load": SESSIONS},
            ["200 were due, but done, under way, waiting and skipped are 199"],
            True,
        ),
        (
            arrivals(200, done=22, under_way=3, waiting=170, skipped=5),
            {"load": SESSIONS, "validity": SOME_ALLOWED},
            ["175 of 200 that were due were never begun: 170 waited for a free user, 5 were skipped"],
            False,
        ),
        # Sessions longer than the run.
        (arrivals(100, under_way=95, waiting=5), {"load": SESSIONS}, [], True),
        # Skipped arrivals are compared with due arrivals.
        (arrivals(200, done=195, skipped=5), {}, ["5 of 200 actions that were due were skipped (allowed 1.0 %)"], True),
    ],
)
def test_each_arrival_that_was_due_is_accounted_for(
    tmp_path: Path, due: Row, made: Row, said: list[str], kept: bool
) -> None:
    summary = run(tmp_path, measured(due=due), **made)
    assert [str(each) for each in summary.doubts] == said
    assert summary.limits_ok is kept
    adds_up = not (said and "but done" in said[0])
    assert summary.json()["due"] == due | {"adds_up": adds_up}


def test_agents_accounts_are_added(tmp_path: Path) -> None:
    due = run(tmp_path, measured(due=arrivals(10, done=8, waiting=2)), agents=2).last.due
    assert due
    assert (due.count, due.waiting) == (20, 4)


@pytest.mark.parametrize(("allowed", "doubts"), [(0.01, ["skipped"]), (0.4, [])])
def test_skipped_actions_are_counted_and_doubted_beyond_the_threshold(
    tmp_path: Path, allowed: float, doubts: list[str]
) -> None:
    summary = run(tmp_path, measured(skipped=1), load="closed", validity={"skipped": allowed})
    assert [each.doubt.name for each in summary.doubts] == doubts
    assert summary.last.skipped == 30


def test_skipped_passes_do_not_wait() -> None:
    load = OpenLoad(20, 2.0, 30, is_exponential=False)
    passes = [replace(second, skipped=4) for second in open_loop(random.Random(1), load).passes]
    found = above_capacity(20, passes)
    assert found is not None
    assert found.growth_per_s == pytest.approx(found.offered_per_s - found.kept_per_s - 4)
