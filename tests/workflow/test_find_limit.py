"""A search: how a search goes on, and how it keeps to its time."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from cuesta import machine
from cuesta.analysis.search.history import History
from cuesta.analysis.search.outcome import LimitedBy, Try
from cuesta.analysis.search.replay import Replay
from cuesta.engine.folder import describe_run
from cuesta.engine.job import SECOND, prepare
from cuesta.engine.run_job import RunResult
from cuesta.engine.search import AHEAD, ENDING, LONGEST, last_start, seconds_of_trial
from cuesta.errors import Exit
from cuesta.plan import Plan, RawOptions, load
from cuesta.workflow.control import ignore
from cuesta.workflow.find_limit import EXITS, Chooser, Search
from cuesta.workflow.run_result import finish
from tests.analysis.search.searching import BY_USERS
from tests.conftest import Cuesta, Ended
from tests.report import made_up

TAPE = 'Type "who"\nEnter\nWait+Bytes@5s 6\n'


def plan(folder: Path, **settings: object) -> Plan:
    tape = folder / "row.tape"
    tape.write_text(TAPE)
    flags = {"limits": ["response.p95 < 1s"], "users": str(BY_USERS.start), **settings}
    return load(RawOptions(tape=str(tape), flags=flags), folder)


def begun(folder: Path) -> Path:
    """The folder of a search without a trial."""
    run = folder / "run"
    run.mkdir()
    described = describe_run(prepare(plan(folder)), datetime.now(UTC))
    search = {"method": BY_USERS.json()}
    about = {"machine": dict(machine.facts()), "steps": [], "segments": [], "search": search}
    (run / "run.json").write_text(json.dumps({**described, **about}))
    return run


Resume = Callable[[Path], Ended]


@pytest.fixture
def resume(cuesta: Cuesta) -> Resume:
    return lambda run: cuesta("search", "--resume", run, "--dry-run")


@pytest.mark.parametrize("beside", [("--beside", "yes"), ("--sessions", "3", "--sessions-tape", "row.tape")])
def test_a_search_has_nothing_beside_it(here: Path, cuesta: Cuesta, beside: tuple[str, ...]) -> None:
    (here / "row.tape").write_text(TAPE)
    arguments = ("search", "row.tape", "--target", "pty:cat", "--limit", "echo.p95 < 1s", "--dry-run")
    cuesta(*arguments, *beside).ends(Exit.BAD_INPUT, "nothing beside it", "sweep instead")


def test_a_search_has_no_probe(here: Path, cuesta: Cuesta) -> None:
    groups = '[[group]]\nname = "load"\n[[group]]\nname = "near"\nrole = "probe"\n'
    (here / "plan.toml").write_text(f'tape = "row.tape"\n{groups}')
    (here / "row.tape").write_text(TAPE)
    cuesta("search", "plan.toml", "--limit", "echo.p95 < 1s", "--dry-run").ends(Exit.BAD_INPUT, "a search has no probe")


def test_a_search_goes_on_with_the_tape_that_it_began_with(tmp_path: Path, resume: Resume) -> None:
    run = begun(tmp_path)
    resume(run).ends()
    (tmp_path / "row.tape").write_text(TAPE + "Think 1s\n")
    changed = "the tape `row` is not what it was when the search began"
    resume(run).ends(Exit.BAD_INPUT, changed, "tapes/row.tape again")


def test_a_search_goes_on_only_on_the_machine_that_it_began_on(tmp_path: Path, resume: Resume) -> None:
    file = begun(tmp_path) / "run.json"
    run = json.loads(file.read_text())
    load = [each + 1 for each in run["machine"]["load"]]
    other = f"machine: id 0 against {run['machine']['id']}, in the search and here"
    for change, code, text in (
        ({"load": load}, Exit.GOOD, ""),
        ({"kernel": "2.4.20", "id": "0"}, Exit.BAD_INPUT, other),
    ):
        file.write_text(json.dumps({**run, "machine": run["machine"] | change}))
        resume(file.parent).ends(code, text)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"search": None}, "this run was no search"),
        ({"plan": 5}, "the plan or the method of the search is damaged"),
        ({"search": {"method": 5}}, "the plan or the method of the search is damaged"),
        ({"search": {"method": {}}}, "the plan or the method of the search is damaged"),
        ({"tapes": []}, "is not what it was"),
    ],
)
def test_a_damaged_folder_does_not_go_on(tmp_path: Path, resume: Resume, change: dict[str, object], text: str) -> None:
    file = begun(tmp_path) / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    assert "pydantic" not in resume(file.parent).ends(Exit.BAD_INPUT, text).err


def test_what_is_no_run_folder_does_not_go_on(tmp_path: Path, resume: Resume) -> None:
    (tmp_path / "run.json").write_text("[]")
    for path in (tmp_path, tmp_path / "run.json"):
        resume(path).ends(Exit.BAD_INPUT)


def test_a_trial_takes_as_long_as_its_load_needs_to_be_seen_to_settle(tmp_path: Path) -> None:
    """Both announcements come ahead of their instants, and a load is watched for six seconds at least."""
    short = plan(tmp_path, settle="1s", measure="4s", stagger="100ms").settings
    assert seconds_of_trial(short, 0) == pytest.approx(2 * AHEAD / SECOND + 6 + 4)
    assert seconds_of_trial(short, 20) == pytest.approx(seconds_of_trial(short, 0) + 2)
    long = plan(tmp_path, settle="60s", measure="300s").settings
    assert seconds_of_trial(long, 0) == pytest.approx(2 * AHEAD / SECOND + 60 + 300)


def test_a_load_that_does_not_settle_is_measured_within_the_budget(tmp_path: Path) -> None:
    settings = plan(tmp_path, settle="10s", measure="20s").settings
    assert last_start(5 * SECOND, settings, None) == (5 + LONGEST * 10) * SECOND
    assert last_start(5 * SECOND, settings, 60 * SECOND) == 40 * SECOND - AHEAD


def test_a_host_is_waited_for_in_a_trial_that_is_to_show_its_recovery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for purpose in ("recover", "bracket"):
        ask = Try(4, purpose, "…")
        known = Replay(History(BY_USERS), [], ask)
        monkeypatch.setattr("cuesta.workflow.find_limit.replay", lambda *_, known=known: known)
        following = Chooser(plan(tmp_path).settings, BY_USERS, None, ignore)(tmp_path)
        assert following is not None
        assert following.is_recovery is (purpose == "recover")


def test_those_who_watch_a_search_are_shown_how_far_it_is(tmp_path: Path) -> None:
    settings = plan(tmp_path).settings
    begun, going = Chooser(settings, BY_USERS, None, ignore), Chooser(settings, BY_USERS, None, ignore)
    begun(tmp_path)
    assert begun.state
    assert (begun.state.trials, begun.state.objective) == ((), ["response.p95 < 1s"])
    following = going(made_up.search(tmp_path / "run", made_up.TRIALS[:6], doubtful=()))
    assert going.state
    assert len(going.state.trials) == 6
    assert following
    assert going.state.next
    assert going.state.next.because == following.note["because"]


def test_a_search_makes_no_trial_that_would_end_after_its_budget(tmp_path: Path) -> None:
    settings = plan(tmp_path, settle="10s", measure="20s").settings
    enough = seconds_of_trial(settings, BY_USERS.start) + ENDING
    asked = Chooser(settings, BY_USERS, enough + 5, ignore)(tmp_path)
    assert asked is not None
    assert asked.end_by is not None
    late = Chooser(settings, BY_USERS, enough - 1, ignore)
    (tmp_path / "run.json").write_text(json.dumps({"search": {}}))
    assert late(tmp_path) is None
    assert "the budget of" in json.loads((tmp_path / "run.json").read_text())["search"]["ended"]


def test_a_budget_has_room_for_the_summary(tmp_path: Path) -> None:
    """The more there is to read, the earlier the last trial must end."""
    settings = plan(tmp_path, settle="10s", measure="20s").settings
    quick, slow = (Chooser(settings, BY_USERS, 300.0, ignore, begun=0, reading=each) for each in (0.0, 3.0))
    ends = [chooser._end_by() for chooser in (quick, slow)]
    assert ends == [round((300 - ENDING - each) * SECOND) for each in (0, 6)]


GIVES_OUT = (4, 8, 16, 32, 24, 18, 22, *[18] * 5)
"""What a search asks for at a host that is quick, and refuses more than 20 users."""


def ended(folder: Path, limited_by: str) -> Path:
    """The folder of a search that ended so."""
    if limited_by == "users":
        return made_up.rate_search(folder, made_up.RATES, users_are_few=True)
    loads, more = ENDINGS[limited_by]
    return made_up.search(folder, loads, **more)


ENDINGS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "host": (made_up.TRIALS, {}),
    "host gave out": (GIVES_OUT, {"doubtful": (), "capacity": 200, "refused_above": 20}),
    "driver": ((4, 4, 4), {"doubtful": (0, 1, 2), "lowest": 4}),
    "highest": ((4, 8, 16, *[16] * 5), {"doubtful": (), "highest": 16}),
    "lowest": ((64,), {"lowest": 64, "start": 64}),
    "doubts": ((64, 32, 32, 32), {"doubtful": (1, 2, 3), "start": 64}),
    "budget": ((4, 8, 16), {"doubtful": ()}),
}
"""By what ends a search: the users of its trials, and the settings of its host and method."""


@pytest.mark.parametrize(
    ("limited_by", "code"),
    [
        ("host", Exit.GOOD),
        ("host gave out", Exit.GOOD),
        ("driver", Exit.REFUSED),
        ("users", Exit.REFUSED),
        ("highest", Exit.REFUSED),
        ("lowest", Exit.REFUSED),
        ("doubts", Exit.INVALID),
        ("budget", Exit.REFUSED),
    ],
)
def test_the_exit_code_says_whether_the_hosts_limit_was_found(tmp_path: Path, limited_by: str, code: Exit) -> None:
    search = finish(RunResult(ended(tmp_path / "run", limited_by), False, []), Search)
    assert search.exit == code
    assert search.result.limited_by == limited_by
    assert json.loads((search.folder / "summary.json").read_text())["search"] == search.json()["search"]


def test_a_budget_that_ends_with_an_interval_is_an_answer(tmp_path: Path) -> None:
    folder = made_up.search(tmp_path / "run", (4, 8, 16, 32, 24), ())
    assert finish(RunResult(folder, False, []), Search).exit == Exit.GOOD


def test_every_ending_of_a_search_has_an_exit_code() -> None:
    assert {*EXITS} == {*get_args(LimitedBy)} == {*ENDINGS, "users", "changed"}
