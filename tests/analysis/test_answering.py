"""Doubts about a host that did not answer: their text, their advice, and that no limit counts as kept."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cuesta.analysis import Summary, summarise
from tests.run_folder import Row, RunFolder

NO_ANSWERS: Callable[..., list[float]] = lambda *_: []  # noqa: E731
LIMITS = ("response.p95 < 1s", "errors.rate < 70%", "throughput > 0")
ECHOES = [("interactive/keys/echo", [0.001] * 20)]


def waiting(**who: float) -> Row:
    return {"waiting": {"answers": 0, "prompts": 0, "echoes": 0, "keys": 0, "oldest": 0.0, **who}, "unfinished": 0}


def due(count: int, **what: int) -> Row:
    return {"due": {"count": count, "done": 0, "failed": 0, "under_way": 0, "waiting": 0, "skipped": 0, **what}}


def run(folder: Path, *changes: Row, **more: object) -> Summary:
    """Make a run with changes in its measured rows."""

    def edit(row: Row) -> Row:
        for change in changes:
            row = row | change if row["phase"] == "measure" else row
        return row

    made = RunFolder(folder / "run", edit=edit, limits=LIMITS, **more)  # type: ignore[arg-type]
    return summarise(made.write())


def said(summary: Summary) -> list[str]:
    return [str(doubted.doubt) for doubted in summary.doubts]


def test_a_host_that_answers_nothing_is_reported(tmp_path: Path) -> None:
    summary = run(tmp_path, waiting(answers=4, oldest=11.7), responses=NO_ANSWERS)
    assert said(summary) == ["no transaction ended: 4 users have waited for up to 11.7 s"]
    assert json.dumps(summary.json())
    assert summary.json()["invalid_because"][0].startswith(said(summary)[0])
    assert [(each.value, each.ok) for each in summary.last.limits] == [(None, False)] * 3
    assert not summary.limits_ok


def test_timeouts_and_lost_lines_are_distinguished(tmp_path: Path) -> None:
    change = {"unanswered": 3, "errors": {"timeout": 2, "reset": 1}}
    summary = run(tmp_path, waiting(), change, responses=NO_ANSWERS, measure=1)
    assert said(summary) == ["no transaction ended: 2 waits timed out and 1 line was lost before the answer"]
    assert summary.doubts[0].doubt.advice == "see why lines were lost: reset 1"


def test_a_prompt_that_never_comes_is_not_an_answer(tmp_path: Path) -> None:
    summary = run(tmp_path, waiting(prompts=4, oldest=9.0), responses=NO_ANSWERS)
    assert said(summary) == ["no wait was met: 4 users have waited for up to 9.00 s"]


def test_a_user_who_logs_in_again_at_the_end_raises_no_doubt(tmp_path: Path) -> None:
    change = waiting(prompts=1, echoes=2, keys=2, oldest=0.2)
    assert said(run(tmp_path, change, responses=NO_ANSWERS, histograms=ECHOES)) == []


def test_a_frozen_host_that_echoed_is_doubted_once(tmp_path: Path) -> None:
    change = waiting(answers=4, oldest=11.7) | {"unfinished": 4, "oldest": 11.7}
    summary = run(tmp_path, change, responses=NO_ANSWERS, histograms=ECHOES)
    assert said(summary) == ["no transaction ended: 4 users have waited for up to 11.7 s"]


def test_a_host_that_echoes_nothing_is_reported(tmp_path: Path) -> None:
    summary = run(tmp_path, waiting(echoes=4, keys=230, oldest=11.5), responses=NO_ANSWERS)
    assert said(summary)[0] == "the host echoed nothing of 230 keys: 4 users have waited for up to 11.5 s"
    assert not summary.limits_ok


def test_a_host_that_echoes_less_than_half_is_doubted(tmp_path: Path) -> None:
    change = waiting(echoes=4, keys=21, oldest=0.3)
    summary = run(tmp_path, change, responses=NO_ANSWERS, histograms=ECHOES)
    assert said(summary) == [
        "the host echoed only 20 keys, and 21 not: 4 users have waited for up to 300 ms",
    ]


def test_a_host_that_answers_and_does_not_echo_may_keep_limits(tmp_path: Path) -> None:
    summary = run(tmp_path, waiting(echoes=4, keys=40, oldest=0.3))
    assert said(summary) == ["the host echoed nothing of 40 keys: 4 users have waited for up to 300 ms"]
    assert summary.limits_ok


def test_silence_of_a_host_that_sent_nothing_is_not_an_answer(tmp_path: Path) -> None:
    found = {silent: run(tmp_path / str(silent), {"silent": silent}) for silent in (0, 1, 2)}
    assert [said(summary) for summary in found.values()] == [
        [],
        ["the host sent nothing: 30 of 60 transactions ended by its silence"],
        ["the host sent nothing: 60 transactions ended by its silence"],
    ]
    assert [summary.limits_ok for summary in found.values()] == [True, False, False]


@pytest.mark.parametrize("given_up", [2, 3])
def test_fewer_answers_than_failures_raise_a_doubt(tmp_path: Path, given_up: int) -> None:
    change = {"unanswered": given_up, "errors": {"timeout": given_up}}
    summary = run(tmp_path, waiting(), change)
    few = f"only 60 transactions ended while {30 * given_up} waits timed out"
    assert said(summary) == ([few] if given_up == 3 else [])
    assert summary.limits_ok == (given_up == 2)


def dead(**change: object) -> Callable[[Row], Row]:
    """Put users 2 and 3, who get no answers, into a group of their own."""
    return lambda row: row | {"group": "dead", "transactions": 0, **change} if row["user"] > 1 else row


def test_a_group_whose_host_answers_nothing_is_not_hidden_by_another(tmp_path: Path) -> None:
    summary = run(tmp_path, edit_user=dead(unanswered=3))
    assert said(summary) == ["of group dead, nothing was answered, and 6 had no answer"]
    assert not summary.limits_ok
    assert summary.json()["groups"] == [
        {"group": "interactive", "users": 2, "transactions": 30, "unanswered": 0},
        {"group": "dead", "users": 2, "transactions": 0, "unanswered": 6},
    ]
    summary = run(tmp_path / "few", edit_user=dead(transactions=1, unanswered=2, waits="prompt", waited=40.0))
    assert said(summary) == ["of group dead, only 2 transactions ended, and 4 had no answer"]


def test_a_group_that_never_sees_its_first_prompt_is_doubted_unless_it_only_types(tmp_path: Path) -> None:
    change = dead(waits="prompt", waited=40.0)
    assert said(run(tmp_path, edit_user=change)) == ["of group dead, nothing was answered, and 2 had no answer"]
    keys = [("dead/keys/echo", [0.001] * 20), ("dead/keys/lateness", [0.001] * 20)]
    assert said(run(tmp_path / "typists", edit_user=change, histograms=keys)) == []
    # A user who only watches waits repeatedly, and a user who has just begun is not stuck.
    assert said(run(tmp_path / "watchers", edit_user=dead(waits="prompt", waited=2.0))) == []
    assert said(run(tmp_path / "begun", edit_user=dead(waits="answer", waited=0.3))) == []
    assert len(said(run(tmp_path / "stuck", edit_user=dead(waits="answer", waited=3.0)))) == 1


def test_keys_that_wait_for_an_echo_show_a_freeze_in_the_middle(tmp_path: Path) -> None:
    change = waiting(echoes=4, keys=12, oldest=3.0) | {"unfinished": 4, "oldest": 3.0}
    summary = run(tmp_path, change, responses=NO_ANSWERS, histograms=ECHOES)
    assert said(summary) == [
        "4 users had no echo at the end: the oldest had waited 3.00 s, the longest wait that ended took 1.00 ms"
    ]


def test_an_account_that_adds_up_raises_no_doubt(tmp_path: Path) -> None:
    change = due(200, done=150, failed=3, under_way=3, waiting=45, skipped=2)
    summary = run(tmp_path, change, load="open:5/s:sessions", validity={"skipped": 0.05})
    assert said(summary) == []
    assert summary.json()["due"] == {
        "count": 200,
        "done": 150,
        "failed": 3,
        "under_way": 3,
        "waiting": 45,
        "skipped": 2,
        "adds_up": True,
    }


def test_losses_from_an_account_make_the_run_invalid(tmp_path: Path) -> None:
    summary = run(tmp_path, due(200, done=196, under_way=3), load="open:5/s:sessions")
    assert said(summary) == ["200 were due, but done, under way, waiting and skipped are 199"]
    assert summary.json()["due"]["adds_up"] is False


def test_agents_accounts_are_added(tmp_path: Path) -> None:
    summary = run(tmp_path, due(10, done=8, waiting=2), load="open:5/s", agents=2)
    assert summary.last.due
    assert (summary.last.due.count, summary.last.due.waiting) == (20, 4)


def test_a_run_whose_sessions_mostly_never_began_is_invalid(tmp_path: Path) -> None:
    change = due(200, done=22, under_way=3, waiting=170, skipped=5)
    summary = run(tmp_path, change, load="open:50/s:sessions", validity={"skipped": 0.05})
    assert said(summary) == ["175 of 200 that were due were never begun: 170 waited for a free user, 5 were skipped"]
    assert not summary.limits_ok


def test_sessions_longer_than_the_run_raise_no_doubt(tmp_path: Path) -> None:
    assert said(run(tmp_path, due(100, under_way=95, waiting=5), load="open:5/s:sessions")) == []


def test_skipped_arrivals_are_compared_with_due_arrivals(tmp_path: Path) -> None:
    change = due(200, done=195, skipped=5)
    assert said(run(tmp_path, change, load="open:5/s")) == [
        "5 of 200 actions that were due were skipped (allowed 1.0 %)"
    ]


REASON = "python3 nothere.py exited with status 2; it said last: no such file"


def test_programs_that_die_at_their_start_make_a_run_invalid(tmp_path: Path) -> None:
    change = {"errors": {"exited-at-start": 1}, "said": {"exited-at-start": REASON}}
    summary = run(tmp_path, change, responses=NO_ANSWERS, validity={"lost_users": 1, "settled": False})
    assert said(summary)[0] == f"the program on the line ended at its start, 30 times: {REASON}"
    assert summary.json()["errors"]["said"] == {"exited-at-start": REASON}


def test_users_who_lost_their_lines_are_grouped_by_reason(tmp_path: Path) -> None:
    summary = run(tmp_path, lost=(3,))
    assert summary.json()["lost_for"] == {"reset": 1}


def test_one_program_that_died_at_its_start_and_recovered_is_data(tmp_path: Path) -> None:
    edit: Callable[[Row], Row] = lambda row: (  # noqa: E731
        row | {"errors": {"exited-at-start": 1}, "said": {"exited-at-start": REASON}} if row["start"] == 0 else row
    )
    assert said(summarise(RunFolder(tmp_path / "run", edit=edit).write())) == []


STARTUPS = "a:22 turned the login away: let users start further apart (--stagger), or raise MaxStartups"


@pytest.mark.parametrize(
    ("errors", "about", "advice"),
    [
        ({}, {}, "settle longer, or start users faster (--stagger)"),
        ({"max-startups": 2}, {"max-startups": STARTUPS}, f"max-startups: {STARTUPS}"),
        ({"closed": 2, "unechoed": 9}, {}, "see why lines were lost: closed 4"),
        ({"timeout": 2}, {}, "settle longer, or start users faster (--stagger)"),
        ({"timeout": 2}, {"timeout": "a:23 did not answer"}, "timeout: a:23 did not answer"),
        ({"closed": 2, "refused": 1}, {"refused": "nothing listens"}, "refused: nothing listens"),
    ],
)
def test_advice_follows_the_error_that_was_found(tmp_path: Path, errors: Row, about: Row, advice: str) -> None:
    def settling(row: Row) -> Row:
        return row | {"users": 3, "active": 3, "errors": errors, "said": about} if row["phase"] == "settle" else row

    summary = summarise(RunFolder(tmp_path / "run", edit=settling).write())
    assert [each.doubt.name for each in summary.doubts] == ["incomplete"]
    assert summary.doubts[0].doubt.advice == advice


@pytest.mark.parametrize(
    ("change", "never"), [({"gave_up": True}, 4), ({}, 0), ({"gave_up": True, "at_work": True}, 0)]
)
def test_users_who_gave_up_before_they_did_anything_never_got_to_work(tmp_path: Path, change: Row, never: int) -> None:
    summary = run(tmp_path, edit_user=lambda row: row | {"at_work": False} | change)
    assert summary.last.never_at_work == never
    assert any("never got to work" in each for each in said(summary)) == (never > 0)


def test_lines_that_show_no_prompt_count_although_their_users_work_on_others(tmp_path: Path) -> None:
    summary = run(tmp_path, {"errors": {"no-login": 1}})
    failed = summary.last.errors.count
    assert summary.last.never_at_work == 0
    assert said(summary) == [f"{failed} of {failed} lines showed no prompt (allowed 1.0 %)"]
