"""Users are added and taken while a run goes on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cuesta import _native
from cuesta.analysis.compare.sides import read_compared_run
from cuesta.analysis.summary import summarise
from cuesta.engine.console import Console, Requests, UserRequest
from cuesta.engine.folder import describe_run
from cuesta.engine.job import SECOND, Job, prepare
from cuesta.engine.run_job import run_job
from cuesta.engine.user_changes import UserChanges, why_fixed
from cuesta.plan import RawOptions, load
from cuesta.records.messages import Announcement, Cut
from cuesta.records.observation import Observation
from cuesta.report.run_report import text
from tests.busy import BUSY
from tests.conftest import Write
from tests.enough import LIMIT
from tests.run_folder import RunFolder, edit_run

TAPE = 'Set TypingSpeed 20ms\nType "row"\nEnter\nWait+Bytes 20\nThink 100ms\n'
STARTED = datetime(2026, 1, 1, tzinfo=UTC)
PLAN = f"""
tape = "a.tape"
users = 4
stagger = "1s"
settle = "5s"
measure = "60s"
meters = "none"
{BUSY}
"""
"""Its users have started at 4 s, its load has settled at 9 s, and it ends at 69 s."""


def prepared(write: Write, here: Path, **flags: str) -> Job:
    write("a.tape", TAPE)
    return prepare(load(RawOptions(plan=write("plan.toml", PLAN), flags=flags), here))


@dataclass
class Steerer:
    """Asks for a change in each step once its measuring is seen, and stops the run when no change is left."""

    changes: list[int]
    requests: Requests = field(default_factory=Requests)
    asked: int = 0
    answers: Sequence[str] = ()
    steps: Sequence[int] = ()
    """How many there are, by each agent."""

    def make_run(self, job: Job, out: Path) -> None:
        console = Console(self.look, requests=self.requests, may_change_users=True)
        self.stop = console.stop
        assert not run_job(job, out, console).failures

    def look(self, seen: Observation) -> None:
        self.answers, self.steps = seen.answers, [each.steps for each in seen.snapshots]
        measured = [each.step for each in seen.snapshots if each.phase == "measure"]
        if not measured or min(measured) < self.asked:
            return
        if self.asked < len(self.changes):
            self.requests.change_users(self.changes[self.asked])
            self.asked += 1
        else:
            self.stop.set()


def test_a_run_whose_users_are_changed_is_a_sweep_of_steps_that_were_asked_for(here: Path, write: Write) -> None:
    job = prepared(write, here, stagger="10ms", settle="500ms", measure=LIMIT, users="2", agents="2")
    steerer = Steerer([3, -2])
    steerer.make_run(job, here / "out")
    run = json.loads((here / "out" / "run.json").read_text())
    assert [step["group"][0]["users"] for step in run["steps"]] == [2, 5, 3]
    assert [step["swept"] for step in run["steps"]] == [{}, {"users": 5}, {"users": 3}]
    assert run["segments"] == [{"folder": ".", "steps": [0, 1, 2]}]
    summary = summarise(here / "out")
    first, second, third = summary.steps
    assert first.asked is None
    assert str(second.asked).startswith("users +3 at ")
    assert str(third.asked).startswith("users -2 at ")
    assert [step.users for step in summary.steps] == [2, 5, 3]
    assert all(step.transactions.count and not step.errors.count for step in summary.steps)
    assert [answer.partition(" from ")[0] for answer in steerer.answers] == [
        f"{second.asked}: 5 users",
        f"{third.asked}: 3 users",
    ]
    assert steerer.steps == [3, 3]
    users = {row.user: row.step for agent in summary.recorded.agents for row in agent.users if row.step < 2}
    assert users == {0: 1, 1: 1, 2: 1, 3: 1, 4: 1}, "the last step in which each was"
    for cut in (0, 1):
        assert summary.recorded.steps[cut].end == summary.recorded.steps[cut + 1].begin
        assert float(run["steps"][cut]["measure"].removesuffix("s")) == pytest.approx(summary.steps[cut].seconds)


def test_users_of_a_run_that_stands_for_its_plan_stay(here: Path, write: Write) -> None:
    requests = Requests()
    seen: list[Observation] = []
    requests.change_users(3)
    console = Console(seen.append, requests=requests)
    run_job(prepared(write, here, users="1", settle="0s", measure="500ms"), here / "out", console)
    assert seen[-1].answers == (
        "the number of users stays as planned: this run stands for its plan, as in a comparison",
    )
    assert len(json.loads((here / "out" / "run.json").read_text())["steps"]) == 1


@dataclass
class MadeUpRun:
    """A run that began some seconds ago, and what it was told."""

    start_at: int
    told: list[Any] = field(default_factory=list)

    def expect(self, number: int, settled: int, end: int) -> None:
        self.told.append((number, settled, end))

    def cut(self, number: int, at: int) -> None:
        self.told.append((number, at))

    def announce(self, announcement: Announcement, /) -> None:
        self.told.append(announcement.cut)


def begun(job: Job, folder: Path, seconds: float) -> tuple[UserChanges, MadeUpRun]:
    made = MadeUpRun(_native.now() - round(seconds * SECOND))
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps({**describe_run(job, STARTED)}))
    return UserChanges(job, folder, made), made


def ask(changes: UserChanges, by: int) -> str:
    return changes.change(UserRequest(_native.now(), by))


@pytest.mark.parametrize(
    ("seconds", "by", "why"),
    [
        (1.0, 1, "users start and leave one after another until 4.0 s; ask again then"),
        (68.0, 1, "the run ends at 69.0 s"),
        (20.0, -4, "1 user must stay"),
        (20.0, 101, "this run has room for 104 users; begin another with more (--users)"),
    ],
)
def test_a_change_that_cannot_be_made_is_not_made_and_says_why(
    here: Path, write: Write, seconds: float, by: int, why: str
) -> None:
    changes, made = begun(prepared(write, here), here / "out", seconds)
    assert ask(changes, by) == f"the number of users stays 4: {why}"
    assert not made.told


def test_a_step_is_cut_and_another_is_measured_for_the_rest_of_the_run(here: Path, write: Write) -> None:
    job = prepared(write, here)
    changes, made = begun(job, here / "out", 20.0)
    assert "6 users from " in ask(changes, 2)
    (number, at), step, cut = made.told
    assert isinstance(cut, Cut)
    assert 22.2 * SECOND <= at <= 40 * SECOND
    assert at % (SECOND // 10) == 0
    assert (number, cut.at, cut.settled, cut.end) == (0, at, at + 7 * SECOND, 69 * SECOND)
    assert step == (1, cut.settled, cut.end)
    assert [group.users for group in cut.groups] == [6]
    assert ask(changes, 1).endswith(f" {at / SECOND:.1f} s already; ask again then")
    first, second = json.loads((here / "out" / "run.json").read_text())["steps"]
    assert (first["measure"], second["measure"]) == (f"{at / SECOND - 9:g}s", f"{69 - cut.settled / SECOND:g}s")
    assert second["asked"].startswith("users +2 at 2")
    assert "asked" not in first


def test_a_step_that_is_added_late_is_measured_beyond_the_planned_end(here: Path, write: Write) -> None:
    changes, made = begun(prepared(write, here), here / "out", 60.0)
    ask(changes, -3)
    cut = made.told[-1]
    assert cut.settled == cut.at + 8 * SECOND
    assert cut.end == cut.settled + 10 * SECOND > 69 * SECOND


def test_a_step_that_is_cut_before_it_has_settled_is_not_measured(here: Path, write: Write) -> None:
    changes, made = begun(prepared(write, here, settle="300s"), here / "out", 30.0)
    ask(changes, 1)
    assert made.told[0] == (0, made.told[-1].at)
    first, _ = json.loads((here / "out" / "run.json").read_text())["steps"]
    assert first["measure"] == "0s"


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"users": "1,2"}, "the plan has 2 steps of its own"),
        ({"load": "open:3/s"}, "the load `open:3/s` is a rate"),
        ({"beside": "make"}, "a command runs beside the step"),
        ({}, ""),
        ({"load": "paced:2s"}, ""),
    ],
)
def test_some_runs_keep_their_users(here: Path, write: Write, flags: dict[str, str], why: str) -> None:
    assert why_fixed(prepared(write, here, **flags), Console(may_change_users=True)) == why


def test_users_of_several_groups_are_not_changed(here: Path, write: Write) -> None:
    write("a.tape", TAPE)
    plan = write("groups.toml", 'tape = "a.tape"\n[[group]]\nname = "a"\n[[group]]\nname = "b"\n')
    why = why_fixed(prepare(load(RawOptions(plan=plan), here)), Console(may_change_users=True))
    assert why == "the plan has 2 groups, and users of one can be changed"


def test_users_who_meet_are_not_changed(here: Path, write: Write) -> None:
    write("meeting.tape", f'{TAPE}Barrier "all"\n')
    job = prepared(write, here, tape="meeting.tape")
    assert why_fixed(job, Console(may_change_users=True)) == "its users meet at a barrier"


def test_a_run_whose_users_were_changed_is_not_compared(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(2, 4)).write()
    assert read_compared_run(folder).why_excluded is None
    with edit_run(folder) as run:
        run["steps"][1]["asked"] = "users +2 at 7.1 s"
    assert read_compared_run(folder).why_excluded == (
        "it did not keep to its plan: users were changed while it went on (users +2 at 7.1 s)"
    )
    said = text(summarise(folder), colour=False)
    assert "somebody changed the users while the run went on: step 2 (users +2 at 7.1 s)" in " ".join(said.split())
