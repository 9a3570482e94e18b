"""Runs of two plans in turn: their order, seeds, index and end."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.engine import interleaved
from cuesta.engine.console import Console
from cuesta.engine.interleaved import Interleaved, Turn, run_in_turn
from cuesta.engine.job import Job
from cuesta.engine.ports import Engine
from cuesta.engine.run_job import RunResult
from cuesta.plan import RawOptions
from cuesta.records.observation import Observation
from tests.conftest import Write

Made = list[tuple[str, int]]


@pytest.fixture
def wanted(here: Path, write: Write) -> Interleaved:
    """Four pairs of two plans, whose own seeds differ."""
    base, new = (write(f"{name}.toml", f"seed = {seed}\nusers = 3\n") for name, seed in (("a", 7), ("b", 99)))
    return Interleaved(RawOptions(base), RawOptions(new), here, 4)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Replace runs by a note of the folder and seed of each."""
    noted: Made = []

    def run(job: Job, out: Path, console: Console, _engine: Engine) -> RunResult:
        noted.append((f"{out.parent.name}/{out.name}", job.plan.settings.seed))
        console.observer(Observation(snapshots=()))
        return RunResult(out, console.stop.is_set(), [])

    monkeypatch.setattr(interleaved, "run_job", run)
    return noted


def unannounced(_turn: Turn) -> None:
    """Say nothing."""


def good(_run: Path) -> list[str]:
    return []


def test_a_pair_is_given_up_after_a_run_that_does_not_count(here: Path, wanted: Interleaved, made: Made) -> None:
    def judge(run: Path) -> list[str]:
        return ["INVALID"] if (run.parent.name, run.name) == ("pair-2", "new") else []

    said = [(turn.pair, turn.name, why) for turn, why in run_in_turn(wanted, here, judge, unannounced, Console())]
    assert [each for each in said if each[2]] == [(2, "new", ["INVALID"])]
    assert [folder for folder, _ in made[2:5]] == ["pair-2/new", "pair-3/base", "pair-3/new"]
    assert made[-1] == ("pair-5/new", 11), "a repeated pair has another seed"
    rows = [json.loads(row) for row in (here / "pairs.jsonl").read_text().splitlines()]
    assert [row["pair"] for row in rows] == [1, 3, 4, 5]


def test_those_who_watch_see_which_pair_it_is(here: Path, wanted: Interleaved, made: Made) -> None:
    def judge(run: Path) -> list[str]:
        return ["INVALID"] if run.parent.name == "pair-2" else []

    seen: list[Observation] = []
    for _ in run_in_turn(replace(wanted, pairs=2), here, judge, unannounced, Console(seen.append)):
        pass
    series = [each.series for each in seen if each.series]
    assert [(each.what, each.number, each.of, each.name, each.discarded) for each in series] == [
        ("pair", 1, 2, "base", 0),
        ("pair", 1, 2, "new", 0),
        ("pair", 2, 2, "new", 0),
        ("pair", 2, 2, "base", 1),
        ("pair", 2, 2, "new", 1),
    ]


def test_programs_of_each_side_start_in_its_folder(here: Path, wanted: Interleaved) -> None:
    assert [job.plan.here for job in wanted.jobs(1)] == [here, here]
    apart = replace(wanted, folders=(here / "a", here / "b"))
    assert [job.plan.here for job in apart.jobs(1)] == [here / "a", here / "b"]


def test_repeating_unusable_pairs_has_an_end(here: Path, wanted: Interleaved, made: Made) -> None:
    assert len(list(run_in_turn(wanted, here, lambda _: ["INVALID"], unannounced, Console()))) == 4


def test_the_order_alternates_and_a_pair_has_one_seed(here: Path, wanted: Interleaved, made: Made) -> None:
    assert len(list(run_in_turn(wanted, here, good, unannounced, Console()))) == 8
    assert made == [
        ("pair-1/base", 7),
        ("pair-1/new", 7),
        ("pair-2/new", 8),
        ("pair-2/base", 8),
        ("pair-3/base", 9),
        ("pair-3/new", 9),
        ("pair-4/new", 10),
        ("pair-4/base", 10),
    ]


def test_the_index_lists_each_pair_and_its_order(here: Path, wanted: Interleaved, made: Made) -> None:
    for _ in run_in_turn(wanted, here, good, unannounced, Console()):
        pass
    rows = [json.loads(row) for row in (here / "pairs.jsonl").read_text().splitlines()]
    assert [row["first"] for row in rows] == ["base", "new", "base", "new"]
    assert rows[1] == {"pair": 2, "base": "pair-2/base", "new": "pair-2/new", "first": "new"}


@pytest.mark.parametrize(("after", "pairs"), [(1, 0), (2, 1), (3, 1), (4, 2)])
def test_an_interrupt_ends_the_runs_and_a_broken_pair_is_not_indexed(
    here: Path, wanted: Interleaved, made: Made, after: int, pairs: int
) -> None:
    stopping = threading.Event()

    def interrupt(_turn: Turn) -> None:
        if len(made) == after:
            stopping.set()

    runs = list(run_in_turn(wanted, here, good, interrupt, Console(stop=stopping)))
    assert len(runs) == after + 1
    index = here / "pairs.jsonl"
    assert (len(index.read_text().splitlines()) if index.exists() else 0) == pairs
