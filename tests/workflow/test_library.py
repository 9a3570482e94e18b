"""`import cuesta`: the settings of plans as values of Python, and what is known of a run afterwards."""

import os
import re
import threading
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import cuesta
from cuesta.analysis.compare import comparison
from cuesta.analysis.compare.comparison import Terms
from cuesta.analysis.compare.sides import Side
from cuesta.engine.job import Job
from cuesta.errors import Exit, InputError, RefusedError, UsageError
from cuesta.plan import RawOptions, load
from cuesta.plan.keywords import PlanSettings
from cuesta.records.observation import Observation
from cuesta.workflow import library
from cuesta.workflow.compare_runs import Comparison
from cuesta.workflow.find_limit import PlannedSearch, Search
from cuesta.workflow.run_result import Run
from tests.analysis.capacity.simulated import Load, write
from tests.processes import command_of, descendants, end
from tests.report import made_up

QUICK: PlanSettings = {
    "target": "pty:./mytui",
    "settle": 0,
    "measure": "100s",
    "stagger": timedelta(milliseconds=1),
    "users": 4,
    "agents": 2,
}


def settings(here: Path, **keywords: object) -> object:
    return load(RawOptions(keywords=keywords), here).settings


def test_results_and_errors_have_names_in_the_package() -> None:
    assert {name for name in cuesta.__all__ if not hasattr(cuesta, name)} == set()
    assert (cuesta.Run, cuesta.Search, cuesta.errors.UsageError) == (Run, Search, UsageError)


def test_values_of_python_are_what_flags_write(tmp_path: Path) -> None:
    written = {"users": "3", "think": "1.5s", "settle": "2s", "key_rate": "5cps", "limits": ["errors.count == 0"]}
    values = {"users": 3, "think": 1.5, "settle": timedelta(seconds=2), "key_rate": 5, "limits": ("errors.count == 0",)}
    by_flags = load(RawOptions(flags=written), tmp_path).settings
    assert settings(tmp_path, **values) == settings(tmp_path, **written) == by_flags


@pytest.mark.parametrize("fifty_us", [5e-5, timedelta(microseconds=50), "50us"])
def test_short_durations_are_numbers_too(tmp_path: Path, fifty_us: object) -> None:
    read = load(RawOptions(keywords={"stagger": fifty_us, "think": fifty_us, "host": {"delay": fifty_us}}), tmp_path)
    (group,) = read.settings.group
    assert (group.stagger, group.think, read.settings.host.delay) == (50_000, "fixed 50us", 50_000)


def test_a_range_is_a_sweep_and_durations_are_shown_as_such(tmp_path: Path) -> None:
    swept = load(RawOptions(keywords={"users": range(2, 7, 4), "think": [timedelta(seconds=90)]}), tmp_path)
    assert [step.swept for step in swept.steps] == [{"users": users, "think": "1m30s"} for users in (2, 6)]


def test_a_list_of_values_is_a_sweep(tmp_path: Path) -> None:
    swept = load(RawOptions(keywords={"users": [2, 4], "sweep": {"host": {"delay": ["1ms", "2ms"]}}}), tmp_path)
    assert [step.swept for step in swept.steps] == [
        {"users": users, "host.delay": delay} for users in (2, 4) for delay in ("1ms", "2ms")
    ]


def test_groups_and_tables_are_keywords_too(tmp_path: Path) -> None:
    groups = [{"name": "one", "tape": Path("one.tape")}, {"name": "two", "users": 3}]
    plan = load(RawOptions(keywords={"users": 8, "group": groups, "validity": {"settled": False}}), tmp_path)
    assert [(group.name, group.users) for group in plan.settings.group] == [("one", 2), ("two", 6)]
    assert plan.settings.group[0].tape == str(tmp_path / "one.tape")
    assert plan.settings.validity.settled is False


def test_groups_of_keywords_play_the_tape_and_have_the_settings_at_the_top_of_a_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('target = "pty:cat"\ntape = "plan.tape"\n')
    groups = {"group": [{"name": "one"}, {"name": "two", "tape": "two.tape"}]}
    for named, tape in (
        (RawOptions(tape="edit.tape", keywords={**groups, "target": "pty:cat"}), "edit.tape"),
        (RawOptions(plan=tmp_path / "plan.toml", keywords=groups), "plan.tape"),
    ):
        one, two = load(named, tmp_path).settings.group
        assert (one.tape, two.tape) == (str(tmp_path / tape), str(tmp_path / "two.tape"))
        assert one.target == two.target == "pty:cat"


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"user": 3}, "user: no such setting; did you mean `users`?"),
        ({"users": "many"}, "users: expected a number of users, got 'many'"),
        ({"measure": timedelta(0)}, "measure: measuring takes at least 100ms"),
        ({"validity": {"steal": 2}}, "validity.steal: expected a share such as `1%` or 0.01, got 2"),
        ({"validity": {"setled": False}}, "validity.setled: no such setting; did you mean `settled`?"),
        ({"host": {"delay": "long"}}, "host.delay: expected a duration"),
        ({"host": "echo"}, "host: expected a table, got 'echo'"),
        ({"group": [{"name": "typists", "usres": 3}]}, "group.typists.usres: no such setting; did you mean `users`?"),
        ({"limits": ["echo.p95"]}, "limits: expected a limit"),
    ],
)
def test_a_wrong_keyword_is_named(tmp_path: Path, keywords: dict[str, object], text: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(text)}"):
        settings(tmp_path, **keywords)


def test_a_tape_may_be_a_keyword(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "edit.tape").write_text('Type "x" Enter\n')
    jobs = list[Job]()
    monkeypatch.setattr(library, "measure", lambda job, *_: jobs.append(job))
    cuesta.run("edit.tape", here=tmp_path)
    cuesta.run(tape="edit.tape", here=tmp_path)
    cuesta.run(tape=Path("edit.tape"), here=tmp_path)
    assert [job.plan.settings for job in jobs] == [jobs[0].plan.settings] * 3


def test_a_run_of_the_library_is_a_run_of_the_command(tmp_path: Path) -> None:
    """It plays in the folder that it is given, from another thread than the main one; it stops when it is told."""
    (tmp_path / "mytui").write_text("#!/bin/sh\nexec cat\n")
    (tmp_path / "mytui").chmod(0o700)
    (tmp_path / "edit.tape").write_text('Set Echo timed\nForever\nType "hello" Enter\nWait+Echo\nEnd\n')
    stop, seen, runs = threading.Event(), list[int](), list[Run]()

    def observe(moment: Observation) -> None:
        seen.append(len(moment.snapshots))
        if any(folder.stat().st_size for folder in tmp_path.glob("runs/*/agent-1/series.jsonl")):
            stop.set()

    def play() -> None:
        runs.append(cuesta.run("edit.tape", here=tmp_path, observer=observe, stop=stop, **QUICK))

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    (run,) = runs
    assert max(seen) == 2
    assert run.interrupted
    assert run.exit == Exit.INTERRUPTED
    assert run.keystrokes.count
    assert not run.errors.count
    assert run.folder.parent == tmp_path / "runs"
    assert (run.folder / "report.html").exists()
    assert cuesta.open(run.folder).json() == run.json()


def test_a_host_that_ends_during_the_run_is_noted(tmp_path: Path) -> None:
    stop = threading.Event()

    def kill_host(seen: Observation) -> None:
        if seen.snapshots and not stop.is_set():
            (host,) = (pid for pid in descendants(os.getpid()) if b"host_process" in command_of(pid))
            end([host])
            while Path(f"/proc/{host}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                pass
            stop.set()

    run = cuesta.run(here=tmp_path, observer=kill_host, stop=stop, users=1, meters="none", measure="100s")
    assert run.notes == ["the built-in host ended during the run: it was killed by signal 9"]


def test_figures_are_attributes_of_the_run(tmp_path: Path) -> None:
    run = cuesta.open(made_up.good(tmp_path / "run"))
    last = run.summary.last
    assert (run.echo.p95, run.transactions.per_s) == (last.echo.p95, last.transactions.per_s)
    assert run.steps[-1] is last
    assert {*run.json()} <= {*dir(run)}
    assert all(hasattr(run, name) for name in run.json())
    whole = {name: getattr(run, name) for name in ("ended", "planned_steps", "run_folder")}
    assert whole == {"ended": "completed", "planned_steps": 1, "run_folder": str(run.folder)}
    assert repr(run) == f"<Run {tmp_path / 'run'}>"
    with pytest.raises(AttributeError, match=r"no figure `latency`; docs/summary.md lists them"):
        _ = run.latency


def test_a_notebook_shows_the_page(tmp_path: Path) -> None:
    run = cuesta.open(made_up.good(tmp_path / "run"))
    (shown,) = re.findall(r'<iframe srcdoc="([^"]*)"', run._repr_html_())
    assert unescape(shown) == run.page().read_text()
    assert run.page(str(tmp_path / "page.html")).stat().st_size > 10_000


def test_a_search_is_opened_as_one(tmp_path: Path) -> None:
    search = cuesta.open(made_up.search(tmp_path / "run"))
    assert isinstance(search, Search)
    assert repr(search) == f"<Search {tmp_path / 'run'}>"
    assert search.exit == Exit.GOOD
    assert search.result.users


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run folder"):
        cuesta.open(tmp_path)
    (tmp_path / "certification.json").write_text("{}")
    with pytest.raises(InputError, match="a certification") as refused:
        cuesta.open(tmp_path)
    assert refused.value.remedy == f"cuesta.certify('{tmp_path}') reads it"


def test_two_sides_are_folders_or_runs(tmp_path: Path) -> None:
    folders = [made_up.good(tmp_path / name) for name in ("base", "new")]
    compared = cuesta.compare(cuesta.open(folders[0]), "new", here=tmp_path)
    assert repr(compared) == f"<Comparison of {folders[1]} with {folders[0]}: refused>"
    assert compared.exit == Exit.REFUSED
    assert "new is on both sides" in compared.refused[0], compared.refused


def test_a_comparison_of_pairs_is_named_by_their_folder() -> None:
    side = Side(Path("pairs"), [], [])
    compared = comparison.Comparison(side, side, in_pairs=True, terms=Terms(), refused=["no pair is left"])
    assert repr(Comparison(compared)) == "<Comparison of the pairs in pairs: refused>"


def test_two_plans_are_run_in_turn(tmp_path: Path) -> None:
    plan = 'tape = "t.tape"\nusers = {}\nmeasure = "1s"\nsettle = "0s"\n'
    (tmp_path / "t.tape").write_text('Type "x" Enter\nWait+Bytes 1\n')
    for name, users in (("a.toml", 1), ("b.toml", 2)):
        (tmp_path / name).write_text(plan.format(users))
    with pytest.raises(RefusedError, match="population: users 1 against 2"):
        cuesta.compare("a.toml", "b.toml", here=tmp_path)


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ({"margin": 5}, "margin: expected a share between 0 and 1, got 5"),
        ({"margin": float("nan")}, "margin: expected a share"),
        ({"step": -1}, "step: expected a number from 0, got -1"),
        ({"despite": " "}, "--despite: expected a reason"),
        ({"compensation": {"demand": 2}}, "--compensation needs --despite"),
        ({"despite": "x", "compensation": {"deman": 2}}, "did you mean `demand`"),
        ({"despite": "x", "compensation": {"demand": "2"}}, "expected a ratio for demand, got '2'"),
        ({"pairs": 8}, "pairs and out are for two plans"),
    ],
)
def test_wrong_terms_of_a_comparison_are_refused(tmp_path: Path, terms: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(text)):
        cuesta.compare("base", "new", here=tmp_path, **terms)


@pytest.mark.parametrize("sides", [("a.toml", "runs/b"), ("runs/a", "b.toml"), ("a.toml",)])
def test_a_plan_is_compared_only_with_a_plan(sides: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="a plan, and the other side is none"):
        cuesta.compare(*sides)


@pytest.mark.parametrize(
    ("targets", "terms", "text"),
    [
        (["pty:a"], {}, "expected two targets, got pty:a"),
        (["pty:a", "pty:b"], {"figures": "echo.p51"}, "did you mean `echo.p"),
        (["pty:a", "pty:b"], {"build": "make"}, "--build needs --revisions"),
        (["ssh://me@h"], {"revisions": "main..HEAD"}, "no program that is started here"),
        (["pty:a"], {"sessions": 1}, "--sessions: expected a number of at least 2"),
    ],
)
def test_wrong_terms_of_a_comparison_of_versions_are_refused(
    tmp_path: Path, targets: list[str], terms: dict[str, Any], text: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(text)):
        cuesta.compare_versions(*targets, here=tmp_path, **terms)


def test_versions_are_no_sides_of_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="me:\\*\\*\\*@h: a target") as refused:
        cuesta.compare("ssh://me:pw@h", "runs/b", here=tmp_path)
    assert "cuesta.compare_versions" in str(refused.value.remedy)


BUDGETS: list[timedelta | float | str] = [timedelta(minutes=20), 1200, 1200.0, "20m"]


@pytest.mark.parametrize("budget", BUDGETS)
def test_terms_of_a_search_are_values_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: timedelta | float | str
) -> None:
    planned = list[PlannedSearch]()
    monkeypatch.setattr(library, "find_limit", lambda search, *_: planned.append(search))
    for most in (500_001, "500001"):
        cuesta.search("builtin:interactive", limits=["echo.p95 < 100ms"], budget=budget, most=most, here=tmp_path)
    assert {(each.budget, each.method.highest) for each in planned} == {(1200.0, 500_001.0)}


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ({"rule": "bisect"}, "--rule: expected regression or rfc9971, got 'bisect'"),
        ({"most": "many"}, "--most: expected a whole number"),
        ({"budget": "long"}, "--budget: expected a duration"),
        ({"resume": "old", "users": 3}, "resume: the search goes on as it was begun, without a tape, limits, users"),
    ],
)
def test_wrong_terms_of_a_search_are_refused(tmp_path: Path, terms: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(text)):
        cuesta.search("builtin:interactive", limits=["echo.p95 < 100ms"], here=tmp_path, **terms)


def test_a_certification_that_was_made_cannot_be_told_otherwise(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="comments: for a plan that is run"):
        cuesta.certify(tmp_path, comments=["better now"])


def test_rows_that_cannot_be_made_are_a_wrong_query(tmp_path: Path) -> None:
    frame = cuesta.open(made_up.good(tmp_path / "run")).frame()
    assert frame.rows() == frame.rows()
    wrong = cuesta.query("SELECT CAST(folder AS INTEGER) FROM runs", tmp_path)
    for read in (wrong.rows, wrong.__arrow_c_stream__):
        with pytest.raises(UsageError, match="Could not convert"):
            read()


def test_a_prediction_answers_or_refuses(tmp_path: Path) -> None:
    loads = [Load(users=users, think=1.0, service=0.05) for users in (2, 8, 16, 30)]
    write(tmp_path / "run", loads, seconds=10)
    prediction = cuesta.predict("run", at=["users=20"], here=tmp_path)
    assert prediction.exit == Exit.GOOD
    assert repr(prediction) == f"<Prediction from {tmp_path / 'run'}>"
    ((figure,),) = (system["figures"] for system in prediction.json()["systems"])
    assert figure["users"] == 20
    assert figure["response"]["value"] == pytest.approx(20 / figure["throughput"]["value"] - figure["think"])

    assert cuesta.predict("run", users="20", here=tmp_path).json() == prediction.json()
    assert cuesta.predict("run", at="users=20", here=tmp_path).json() == prediction.json()

    wrong: list[tuple[dict[str, Any], str]] = [
        ({"limit": "latency < 1s"}, "--limit latency < 1s"),
        ({"margin": "10%"}, "margin: expected a share between 0 and 1, got '10%'"),
        ({"seed": -1}, "seed: expected a whole number, got -1"),
    ]
    for asked, text in wrong:
        with pytest.raises(UsageError, match=re.escape(text)):
            cuesta.predict("run", here=tmp_path, **asked)
    with pytest.raises(UsageError, match="expected run folders, or one typed table"):
        cuesta.predict()


def test_a_tape_is_checked(tmp_path: Path) -> None:
    assert cuesta.check("builtin:interactive").text.endswith("OK: builtin:interactive")
    assert [cuesta.check(tape.word).text.endswith(f"OK: {tape.word}") for tape in cuesta.tapes()] == [True] * len(
        cuesta.tapes()
    )
    (tmp_path / "bad.tape").write_text("Tpye x\n")
    with pytest.raises(InputError, match="Tpye"):
        cuesta.check("bad.tape", here=tmp_path)
