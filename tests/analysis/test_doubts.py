"""Each doubt about a run: when it is raised, its text and advice, and whether limits count as kept."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.doubts.doubt import RUN_CHECKS, STEP_CHECKS
from cuesta.analysis.summary import Summary, summarise
from tests.run_folder import Row, RunFolder, measured, settling, waiting

NO_ANSWERS: Callable[..., list[float]] = lambda *_: []  # noqa: E731
LIMITS = ("response.p95 < 1s", "errors.rate < 70%", "throughput > 0")
ECHOES = [("interactive/keys/echo", [0.001] * 20)]
MANY_ECHOES = [("interactive/keys/echo", [0.001] * 100)]
IN_A_SECOND = 26
"""Keys of a made-up run in each second; none is late."""
LATE = [("interactive/keys/lateness", [0.02] * 20)]


def run(folder: Path, **made: Any) -> Summary:
    return summarise(RunFolder(folder / "run", **{"limits": LIMITS, **made}).write())


def texts(summary: Summary) -> list[str]:
    return [str(doubted) for doubted in summary.doubts]


def names(summary: Summary) -> list[str]:
    return [doubted.doubt.name for doubted in summary.doubts]


def test_the_documents_explain_each_doubt() -> None:
    page = Path(__file__).parents[2] / "docs" / "summary.md"
    rows = page.read_text(encoding="utf-8").partition("| doubt |")[2].partition("\n\n")[0].splitlines()[2:]
    registered = [look.__name__ for look in (*RUN_CHECKS, *STEP_CHECKS)]
    assert {row.split("|")[1].strip() for row in rows} == {name.replace("_", " ") for name in [*registered, "shrunk"]}


def warming_up(_: int, __: int, second: int) -> list[float]:
    return [0.1 + second % 3 / 100 + (0.2 if second < 8 else 0.0)] * 10


@pytest.mark.parametrize(
    ("doubt", "made", "allowed"),
    [
        ("busy", {"edit": measured(cpu=0.85)}, {"driver_cpu": 0.9}),
        ("starved", {"edit": measured(run_wait=0.22)}, {"run_wait": 0.23}),
        ("mismatched", {"edit": measured(stray=1)}, {"echo_mismatches": 0.05}),
        ("mismatched", {"edit": measured(errors={"unechoed": 1})}, {"echo_mismatches": 0.05}),
        ("unfollowed", {"edit": measured(unfollowed=10)}, {"unfollowed": 0.9}),
        ("continued", {"edit": measured(continued_long=3)}, {"continued": 1.0}),
        ("exhausted", {"edit": measured(errors={"out-of-ports": 1})}, None),
        ("stuck", {"edit": measured(unfinished=2, oldest=1.3)}, None),
        ("few", {"edit": measured(unfinished=1000, oldest=0.01)}, None),
        ("late", {"histograms": LATE}, {"lateness_p99": "30ms"}),
        ("lost", {"lost": (3,)}, {"lost_users": 0.25}),
        ("stolen", {"steal": 25.0}, {"steal": "30%"}),
        ("incomplete", {"edit": settling(users=3, active=3)}, {"settled": False}),
        ("crowded", {"edit": settling(users=5)}, {"settled": False}),
        ("unsettled", {"responses": warming_up}, {"settled": False}),
    ],
)
def test_values_beyond_the_thresholds_of_the_plan_raise_doubts(
    tmp_path: Path, doubt: str, made: Row, allowed: Row | None
) -> None:
    made = {"histograms": MANY_ECHOES, "limits": (), **made}
    assert names(run(tmp_path / "beyond", **made)) == [doubt]
    if allowed:
        assert names(run(tmp_path / "allowed", **made, validity=allowed)) == []


@pytest.mark.parametrize(
    ("keys", "late", "part"), [(40, 2, None), (40, 3, "5 %"), (99, 3, None), (100, 1, None), (100, 2, "1 %")]
)
def test_of_few_keys_a_single_late_one_is_no_doubt(tmp_path: Path, keys: int, late: int, part: str | None) -> None:
    lateness = [0.0] * (keys - IN_A_SECOND - late) + [0.02] * late
    histograms = [*MANY_ECHOES, ("interactive/keys/lateness", lateness)]
    made = run(tmp_path / "run", measure=1, histograms=histograms)
    assert made.last.lateness.count == keys
    said = [str(each) for each in made.doubts if each.doubt.name == "late"]
    assert [each.startswith(f"the driver was late: {part} of keys") for each in said] == [True] * (part is not None)


REASON = "python3 nothere.py exited with status 2; it said last: no such file"
DIED = {"errors": {"exited-at-start": 1}, "said": {"exited-at-start": REASON}}


def waits(**who: float) -> Row:
    """Users who wait at the end of each second, and nothing more is unfinished."""
    return {"edit": measured(waiting=waiting(**who), unfinished=0)}


def no_answers(**who: float) -> Row:
    return {**waits(**who), "responses": NO_ANSWERS}


def frozen(oldest: float, **who: float) -> Row:
    """Users who had echoes, and then wait for answers that are not complete."""
    change = measured(waiting=waiting(oldest=oldest, **who), unfinished=4, oldest=oldest)
    return {"edit": change, "responses": NO_ANSWERS, "histograms": ECHOES}


def failed(**errors: int) -> Row:
    """Transactions that are given up for these errors in each second."""
    return {"edit": measured(waiting=waiting(), unanswered=sum(errors.values()), errors=errors)}


def dead(**change: object) -> Row:
    """Put users 2 and 3, who get no answers, into a group of their own."""
    own = {"group": "dead", "transactions": 0, **change}
    return {"edit_user": lambda row: row | own if row["user"] > 1 else row}


def idle(**change: object) -> Row:
    return {"edit_user": lambda row: row | change}


TYPED = [("dead/keys/echo", [0.001] * 20), ("dead/keys/lateness", [0.001] * 20)]
NO_ANSWER = "of group dead, nothing was answered, and {} had no answer"
TOO_LITTLE = {"validity": {"lost_users": 1, "settled": False}}
KEPT, CROSSED = True, False


@pytest.mark.parametrize(
    ("made", "limits", "said"),
    [
        ({}, KEPT, []),
        (no_answers(answers=4, oldest=11.7), CROSSED, ["no transaction ended: 4 users have waited for up to 11.7 s"]),
        (
            {**failed(timeout=2, reset=1), "responses": NO_ANSWERS, "measure": 1},
            CROSSED,
            ["no transaction ended: 2 waits timed out and 1 line was lost before the answer"],
        ),
        (no_answers(prompts=4, oldest=9.0), CROSSED, ["no wait was met: 4 users have waited for up to 9.00 s"]),
        # One who logs in again at the end raises no doubt, and a frozen host that echoed is doubted once.
        ({**no_answers(prompts=1, echoes=2, keys=2, oldest=0.2), "histograms": ECHOES}, CROSSED, []),
        (frozen(11.7, answers=4), CROSSED, ["no transaction ended: 4 users have waited for up to 11.7 s"]),
        (
            frozen(3.0, echoes=4, keys=12),
            CROSSED,
            ["4 users had no echo at the end: the oldest had waited 3.00 s, the longest wait that ended took 1.00 ms"],
        ),
        # The host echoes less than half.
        (
            no_answers(echoes=4, keys=230, oldest=11.5),
            CROSSED,
            ["the host echoed nothing of 230 keys: 4 users have waited for up to 11.5 s"],
        ),
        (
            {**no_answers(echoes=4, keys=21, oldest=0.3), "histograms": ECHOES},
            CROSSED,
            ["the host echoed only 20 keys, and 21 not: 4 users have waited for up to 300 ms"],
        ),
        (
            waits(echoes=4, keys=40, oldest=0.3),
            KEPT,
            ["the host echoed nothing of 40 keys: 4 users have waited for up to 300 ms"],
        ),
        # Silence of a host that sent nothing is no answer.
        ({"edit": measured(silent=1)}, CROSSED, ["the host sent nothing: 30 of 60 transactions ended by its silence"]),
        ({"edit": measured(silent=2)}, CROSSED, ["the host sent nothing: 60 transactions ended by its silence"]),
        (failed(timeout=2), KEPT, []),
        (failed(timeout=3), CROSSED, ["only 60 transactions ended while 90 waits timed out"]),
        # A group whose host answers nothing is not hidden by another.
        (dead(unanswered=3), CROSSED, [NO_ANSWER.format(6)]),
        (
            dead(transactions=1, unanswered=2, waits="prompt", waited=40.0),
            CROSSED,
            ["of group dead, only 2 transactions ended, and 4 had no answer"],
        ),
        # A group that never sees its first prompt is doubted unless it only types.
        (dead(waits="prompt", waited=40.0), CROSSED, [NO_ANSWER.format(2)]),
        ({**dead(waits="prompt", waited=40.0), "histograms": TYPED}, KEPT, []),
        # A user who only watches waits repeatedly, and a user who has just begun is not stuck.
        (dead(waits="prompt", waited=2.0), KEPT, []),
        (dead(waits="answer", waited=0.3), KEPT, []),
        (dead(waits="answer", waited=3.0), CROSSED, [NO_ANSWER.format(2)]),
        # Programs die at their start: all of them, or one that recovered.
        (
            {"edit": measured(**DIED), "responses": NO_ANSWERS, **TOO_LITTLE},
            CROSSED,
            [
                f"the program on the line ended at its start, 30 times: {REASON}",
                "no transaction ended: 1 user has waited for up to 50.0 ms",
            ],
        ),
        ({"edit": lambda row: row | DIED if row["start"] == 0 else row}, KEPT, []),
        # Lines that show no prompt count although their users work on others.
        ({"edit": measured(errors={"no-login": 1})}, KEPT, ["30 of 30 lines showed no prompt (allowed 1.0 %)"]),
        # Users who gave up before they did anything never got to work.
        (
            idle(at_work=False, gave_up=True),
            KEPT,
            ["4 of 4 users never got to work: no prompt or no line (allowed 1.0 %)"],
        ),
        (idle(at_work=False), KEPT, []),
        (idle(at_work=True, gave_up=True), KEPT, []),
        # Sessions that come and go need not be there.
        ({"edit": lambda row: row | {"users": 0, "active": 0}, "load": "open:1/s:sessions"}, KEPT, []),
        # Nothing was measured, or only keys.
        (
            {"edit": measured(unfinished=0), "responses": NO_ANSWERS},
            CROSSED,
            ["nothing was measured: no transaction and no echo"],
        ),
        ({"edit": measured(unfinished=0), "responses": NO_ANSWERS, "histograms": ECHOES}, CROSSED, []),
        # What the thresholds' doubts say.
        ({"steal": 25.0}, KEPT, ["the hypervisor took 25.0 % of the host's CPUs (allowed 10.0 %)"]),
        ({"edit": settling(users=5)}, KEPT, ["measuring began with 1 user more, of the load before"]),
        ({"edit": settling(users=3, active=3)}, KEPT, ["only 3 of 4 users were at work when measuring began"]),
        (
            {"responses": warming_up},
            KEPT,
            ["no steady state: the response was 309 ms for 8.00 s, 110 ms from then on"],
        ),
    ],
)
def test_what_a_doubt_says_and_whether_limits_count_as_kept(
    tmp_path: Path, made: Row, limits: bool, said: list[str]
) -> None:
    summary = run(tmp_path, **made)
    assert texts(summary) == said
    assert summary.limits_ok is limits


def test_a_host_that_answers_nothing_has_no_values_for_limits(tmp_path: Path) -> None:
    summary = run(tmp_path, **no_answers(answers=4, oldest=11.7))
    assert json.dumps(summary.json())
    assert summary.json()["invalid_because"][0].startswith(f"{texts(summary)[0]}; ")
    assert [(each.value, each.ok) for each in summary.last.limits] == [(None, False)] * 3


def test_what_became_of_transactions_is_counted_by_group(tmp_path: Path) -> None:
    assert run(tmp_path, **dead(unanswered=3)).json()["groups"] == [
        {"group": "interactive", "users": 2, "transactions": 30, "unanswered": 0},
        {"group": "dead", "users": 2, "transactions": 0, "unanswered": 6},
    ]


STARTUPS = "a:22 turned the login away: let users start further apart (--stagger), or raise MaxStartups"
LOGINS_AGAIN = [("interactive/line/connect", [0.01] * 9)]


@pytest.mark.parametrize(
    ("errors", "about", "more", "advice"),
    [
        ({}, {}, {}, "settle longer, or start users faster (--stagger)"),
        ({}, {}, {"histograms": LOGINS_AGAIN}, "if sessions end, and users log in again, give them a rate"),
        ({"max-startups": 2}, {"max-startups": STARTUPS}, {}, f"max-startups: {STARTUPS}"),
        ({"closed": 2, "unechoed": 9}, {}, {}, "see why lines were lost: closed 4"),
        ({"timeout": 2}, {}, {}, "settle longer, or start users faster (--stagger)"),
        ({"timeout": 2}, {"timeout": "a:23 did not answer"}, {}, "timeout: a:23 did not answer"),
        ({"closed": 2, "refused": 1}, {"refused": "nothing listens"}, {}, "refused: nothing listens"),
    ],
)
def test_advice_follows_the_error_that_was_found(
    tmp_path: Path, errors: Row, about: Row, more: Row, advice: str
) -> None:
    summary = run(tmp_path, edit=settling(users=3, active=3, errors=errors, said=about), **more)
    assert names(summary) == ["incomplete"]
    assert summary.doubts[0].doubt.advice.startswith(advice)


def test_one_busy_agent_is_not_hidden_by_an_idle_one(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=2).write()
    series = folder / "agent-1" / "series.jsonl"
    series.write_text(series.read_text().replace('"cpu": 0.01', '"cpu": 0.97'))
    assert texts(summarise(folder)) == ["the driver was busy: 97.0 % of its cores (allowed 80.0 %)"]


def test_a_run_that_was_never_measured_is_doubted(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    (folder / "agent-0" / "series.jsonl").write_text("")
    (folder / "agent-0" / "histograms.hlog").write_text("")
    summary = summarise(folder)
    assert names(summary) == ["empty", "incomplete"]
    assert summary.last.transactions.per_s is None
    assert json.dumps(summary.json(), allow_nan=False)


def test_a_record_that_was_cut_off_is_doubted_and_still_read(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    (folder / "agent-0" / "agent.json").unlink()
    series = folder / "agent-0" / "series.jsonl"
    series.write_bytes(series.read_bytes()[:-5])
    summary = summarise(folder)
    assert texts(summary) == [
        "the record is cut off: agent-0/series.jsonl: the last row is cut off and left out (and 1 more)"
    ]
    assert (summary.ended, summary.last.seconds) == ("cut off", 29.0)


def test_a_failure_of_the_driver_makes_the_run_invalid(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    ending = {"ended": "failed", "reason": "a thread panicked", "rss_per_user": None}
    (folder / "agent-0" / "agent.json").write_text(json.dumps(ending) + "\n")
    summary = summarise(folder)
    assert summary.ended == "failed"
    assert texts(summary) == ["agent 0 of the driver failed: a thread panicked"]


def test_advice_that_was_followed_is_not_given(tmp_path: Path) -> None:
    def advice(**plan: object) -> set[str]:
        folder = tmp_path / "-".join(plan)
        summary = run(folder, histograms=LATE, edit=lambda row: row | {"run_wait": 0.9}, plan=plan)
        return {each.doubt.advice for each in summary.doubts}

    loose = advice()
    assert len({each for each in loose if "--pin" in each}) == 2
    for pinned in (advice(pin=True), advice(isolate=True), advice(engine="ray:auto", nodes=2)):
        assert len(pinned) == len(loose)
        assert not any("--pin" in each for each in pinned)


def test_a_doubt_names_its_step_and_gives_advice(tmp_path: Path) -> None:
    busy = run(tmp_path, users=(2, 4), measure=5, edit=lambda row: row | {"cpu": 0.95} if row["step"] == 1 else row)
    (found,) = busy.json()["invalid_because"]
    assert found.startswith("step 2: the driver was busy: 95.0 % of its cores (allowed 80.0 %); use fewer users")


def test_sessions_that_come_and_go_in_the_background_are_not_missed(tmp_path: Path) -> None:
    run_folder = RunFolder(tmp_path / "run", edit=settling(users=4, active=4)).write()
    described = json.loads((run_folder / "run.json").read_text())
    [group] = described["steps"][0]["group"]
    others = {"name": "others", "users": 6, "background": True}
    for load, doubts in (("closed", ["incomplete"]), ("open:2/s:sessions", [])):
        described["steps"][0]["group"] = [group, group | others | {"load": load}]
        (run_folder / "run.json").write_text(json.dumps(described))
        assert [name for name in names(summarise(run_folder)) if name == "incomplete"] == doubts
