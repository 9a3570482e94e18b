"""The certifier's runs: one that does not count is moved aside and repeated, up to a limit."""

import threading
from pathlib import Path
from typing import Any

import pytest

from cuesta.engine import certifier
from cuesta.engine.console import Console
from cuesta.engine.method import METERED_EVERY, Method
from cuesta.engine.run_job import Judge, RunResult
from cuesta.errors import InputError
from cuesta.plan import RawOptions, load
from cuesta.records.observation import Observation
from tests.conftest import Write


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Replaces runs by ones that only make their folder; lists them in order."""
    made: list[Path] = []

    def run(_job: Any, out: Path, console: Console, _engine: Any) -> RunResult:
        out.mkdir(parents=True)
        (out / "run.json").write_text("{}")
        made.append(out)
        console.observer(Observation(snapshots=()))
        return RunResult(out, console.stop.is_set(), [])

    monkeypatch.setattr(certifier, "run_job", run)
    return made


def certify(here: Path, judge: Judge, wanted: int = 3, **apart: Any) -> certifier.CertifierResult:
    return certify_watched(here, judge, Console(), wanted, **apart)


def certify_watched(
    here: Path, judge: Judge, console: Console, wanted: int = 3, **apart: Any
) -> certifier.CertifierResult:
    timed: Any = None
    return certifier.certify(Method(timed, apart, None), certifier.Series(here, wanted), judge, console)


def test_good_runs_are_numbered_after_one_warm_up_run(here: Path, runs: list[Path]) -> None:
    done = certify(here, lambda _: [])
    assert [str(run.relative_to(here)) for run in runs] == ["settling/run-1", "run-1", "run-2", "run-3"]
    assert (done.counted, done.excluded, done.interrupted) == (3, {}, False)


def test_a_run_that_does_not_count_is_moved_aside_and_repeated(here: Path, runs: list[Path]) -> None:
    verdicts = iter([[], ["the driver was late"], [], []])
    done = certify(here, lambda _: next(verdicts))
    assert done.excluded == {"run-1": ["the driver was late"]}
    assert (done.counted, len(runs)) == (3, 5)
    assert sorted(path.name for path in here.iterdir()) == ["excluded", "run-1", "run-2", "run-3", "settling"]


def test_those_who_watch_see_which_run_it_is(here: Path, runs: list[Path]) -> None:
    seen: list[Observation] = []
    verdicts = iter([[], ["the driver was late"], [], []])
    certify_watched(here, lambda _: next(verdicts), Console(seen.append), wanted=2, control=None)
    series = [each.series for each in seen if each.series]
    assert [(each.number, each.of, each.name, each.discarded) for each in series] == [
        (1, 1, "warm-up", 0),
        (1, 2, None, 0),
        (2, 2, None, 0),
        (2, 2, None, 1),
        (1, 1, "control", 0),
    ]


def test_it_gives_up_after_as_many_lost_runs_as_requested_ones(here: Path, runs: list[Path]) -> None:
    done = certify(here, lambda _: ["no good"])
    assert (done.counted, len(done.excluded), len(runs)) == (0, 3, 4)


def test_an_interrupted_certification_keeps_its_runs(here: Path, runs: list[Path]) -> None:
    stopping = threading.Event()

    def judge(made: Path) -> list[str]:
        stopping.set()
        return []

    timed: Any = None
    how = Method(timed, {"control": timed}, None)
    done = certifier.certify(how, certifier.Series(here, 5), judge, Console(stop=stopping))
    assert (done.counted, done.interrupted) == (1, True)
    assert not (here / "control").exists()


def test_runs_for_single_figures_follow_the_timed_runs(here: Path, runs: list[Path]) -> None:
    certify(here, lambda _: [], 1, traced=None, control=None)
    assert [str(run.relative_to(here)) for run in runs] == ["settling/run-1", "run-1", "traced/run-1", "control/run-1"]


def test_a_run_for_a_single_figure_is_repeated_once(here: Path, runs: list[Path]) -> None:
    done = certify(here, lambda made: ["no good"] if made.parent.name == "traced" else [], 1, traced=None, control=None)
    names = [str(run.relative_to(here)) for run in runs[2:]]
    assert (names, done.excluded) == (["traced/run-1", "traced/run-2", "control/run-1"], {})


def test_without_a_usable_timed_run_no_extra_run_is_made(here: Path, runs: list[Path]) -> None:
    certify(here, lambda _: ["no good"], 1, traced=None)
    assert not (here / "traced").exists()


def test_each_group_of_a_plan_is_certified_separately(write: Write, here: Path) -> None:
    write("t.tape", "Type a\nWait+Silence 100ms")
    plan = write("p.toml", 'tape = "t.tape"\n[[group]]\nname = "a"\n[[group]]\nname = "b"\nusers = 3')
    parts = list(certifier.split_by_group(load(RawOptions(plan=plan), here)))
    assert [group.name for group, _ in parts] == ["a", "b"]
    for group, job in parts:
        assert job.plan.settings.group == (group,)
        assert job.plan.settings.log_transactions
        assert job.metered_every == METERED_EVERY


def test_a_sweep_is_refused(write: Write, here: Path) -> None:
    plan = write("p.toml", "[sweep]\nusers = [1, 2]")
    with pytest.raises(InputError, match="a certification has no steps"):
        list(certifier.split_by_group(load(RawOptions(plan=plan), here)))
