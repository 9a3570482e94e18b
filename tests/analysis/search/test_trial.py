"""Steps of a run folder, judged as trials."""

import json
import math
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from cuesta.analysis.search.objections import LEAST_JAIN
from cuesta.analysis.search.trial import Trial, excess, judge_trials
from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.step import LimitResult
from tests.analysis.search.searching import BY_USERS
from tests.run_folder import CLOCK, NANO, SKIPS, Row, RunFolder, arrivals, change_rows, measured, write_rows

LIMITS = ["response.p95 < 400ms"]


def judge(folder: RunFolder) -> Trial:
    """The first trial of a folder."""
    return judge_trials(searched(folder), BY_USERS)[0]


def searched(folder: RunFolder) -> Summary:
    change_rows(folder.write() / "run.json", lambda run: run | {"search": {"method": BY_USERS.json()}})
    return summarise(folder.path)


def test_a_trial_has_the_logarithm_of_how_far_its_worst_limit_is_exceeded(tmp_path: Path) -> None:
    limits = [*LIMITS, "throughput > 1/s", "errors.count < 5"]
    good = judge(RunFolder(tmp_path / "run", limits=limits))
    assert good.excess == pytest.approx(math.log(0.5), abs=0.02)  # 200 ms; 2 transactions/s are as far above 1/s
    assert good.met
    assert (good.load, good.seconds, good.doubts, good.against) == (4, 30, [], [])


def test_a_limit_that_is_exceeded_is_a_miss(tmp_path: Path) -> None:
    bad = judge(RunFolder(tmp_path / "run", limits=["response.p95 < 100ms", "response.p50 < 1s"]))
    assert bad.excess == pytest.approx(math.log(2), abs=0.02)
    assert not bad.met
    assert bad.against == []


@pytest.mark.parametrize(
    ("text", "value", "ok", "expected"),
    [
        ("response.p95 < 1s", 2.0, False, math.log(2)),
        ("response.p95 < 1s", 1.0, False, 1e-9),
        ("response.p95 <= 1s", 1.0, True, 0.0),
        ("throughput > 10/s", 5.0, False, math.log(2)),
        ("errors.count < 5", 0.0, True, -math.log(1000)),
        ("errors.count <= 0", 3.0, False, math.log(1000)),
        ("errors.count <= 0", 0.0, True, 0.0),
        ("errors.count == 0", 3.0, False, 1.0),
        ("response.p95 < 1s", None, False, None),
    ],
)
def test_excess(text: str, value: float | None, ok: bool, expected: float | None) -> None:
    found = excess(LimitResult(text, value, ok, True, 0))
    assert found == (expected if expected is None else pytest.approx(expected))


def test_a_trial_in_which_a_limit_is_not_decided_is_repeated(tmp_path: Path) -> None:
    trial = judge(RunFolder(tmp_path / "run", limits=["response.p99 < 2s"]))
    assert trial.doubts == [
        "response.p99 < 2s is not decided: 60 values cannot show it: 230 are needed: measure for longer"
    ]
    assert not trial.met


def test_answers_that_were_given_up_miss_the_objective(tmp_path: Path) -> None:
    given_up = [(f"interactive/{quote('a, b/c', safe='')}/response_timed_out", [4.0] * 5)]
    trial = judge(RunFolder(tmp_path / "run", limits=["response.p95 < 2s"], histograms=given_up))
    assert (trial.met, trial.doubts) == (False, [])
    assert trial.excess == pytest.approx(math.log(2), rel=1e-2)


def test_errors_count_against_a_trial(tmp_path: Path) -> None:
    trial = judge(RunFolder(tmp_path / "run", limits=LIMITS, edit=measured(errors={"timeout": 1})))
    assert trial.against == ["33.3 % of the transactions failed (allowed 1.0 %): timeout"]
    assert trial.failed_outright
    assert not trial.met
    assert trial.doubts == []
    assert trial.excess is not None
    assert trial.excess < 0


def test_a_trial_of_which_an_agent_recorded_nothing_does_not_count(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(4, 8), agents=2, limits=LIMITS)
    assert [trial.doubts for trial in judge_trials(searched(folder), BY_USERS)] == [[], []]
    change_rows(folder.path / "agent-1" / "series.jsonl", lambda row: row if row["step"] == 0 else None)
    first, last = judge_trials(summarise(folder.path), BY_USERS)
    assert first.doubts == []
    assert last.doubts[-1] == "agent 1 of the driver failed: it recorded nothing of this trial"
    assert last.is_driver_limit


def test_a_host_of_which_few_answers_came_in_time_is_slow_and_has_not_given_out(tmp_path: Path) -> None:
    waiting = {"answers": 100, "prompts": 0, "echoes": 0, "keys": 0, "oldest": 0.05}
    edit = measured(waiting=waiting, unfinished=100)
    trial = judge(RunFolder(tmp_path / "run", limits=LIMITS, edit=edit))
    assert trial.against == ["only 60 transactions ended while 100 more were under way"]
    assert (trial.met, trial.doubts, trial.failed_outright) == (False, [], False)
    edit = measured(waiting=waiting, unfinished=100, unanswered=1)
    trial = judge(RunFolder(tmp_path / "other", limits=LIMITS, edit=edit))
    assert trial.against[0].startswith("only 60 transactions ended while 100 more were under way; 30 lines were lost")
    assert trial.failed_outright


def test_a_rate_for_which_users_are_too_few_is_a_miss_but_no_host_that_gave_out(tmp_path: Path) -> None:
    def edit(row: Row) -> Row:
        return row | {"due": arrivals(int(row["start"]) * 10, done=1, under_way=1, waiting=300)}

    trial = judge(RunFolder(tmp_path / "run", load="open:10/s", limits=LIMITS, edit=edit))
    assert not trial.met
    assert not trial.failed_outright
    assert " waited for a free user, " in trial.against[0]
    assert "(more --users may begin them)" in trial.against[0]
    assert trial.lacked_users, "those that were begun had their answers in time"


@pytest.mark.parametrize(
    ("limit", "delay", "waiting", "lacked"),
    [
        ("response.p95 < 400ms", 0.5, 1, True),
        ("first_response.p99 < 200ms", 0.5, 1, True),  # not known without the wait
        ("response.p95 < 50ms", 0.5, 1, False),  # the host alone takes longer
        ("response.p95 < 400ms", 0.5, 0, False),  # no input waited for a free user: the host kept the user from typing
        ("response.p95 < 4s", 0.5, 1, False),  # it met the limit
    ],
)
def test_a_trial_lacks_users_if_only_the_wait_for_one_exceeds_its_limits(
    tmp_path: Path, limit: str, delay: float, waiting: int, lacked: bool
) -> None:
    folder = RunFolder(
        tmp_path / "run",
        load="open:10/s",
        limits=[limit],
        responses=lambda *_: [0.6, 0.7],
        delay=lambda _: delay,
        edit=measured(due=arrivals(50, done=49 - waiting, under_way=1, waiting=waiting)),
    )
    trial = judge(folder)
    assert (trial.lacked_users, trial.doubts) == (lacked, [])


def test_a_host_that_fails_is_not_excused_by_a_lack_of_users(tmp_path: Path) -> None:
    edit = measured(due=arrivals(50, done=48, under_way=1, waiting=1), errors={"refused": 1})
    trial = judge(RunFolder(tmp_path / "run", load="open:10/s", limits=LIMITS, edit=edit))
    assert (trial.failed_outright, trial.lacked_users) == (True, False)


def test_a_limit_of_the_user_replaces_the_default(tmp_path: Path) -> None:
    limits = [*LIMITS, "errors.rate < 50%", *(f"{figure} < 1000" for figure in SKIPS), "lost_users < 3"]
    edit = measured(errors={"timeout": 1}, **SKIPS)
    trial = judge(RunFolder(tmp_path / "run", limits=limits, edit=edit, lost=[1]))
    assert trial.against == []
    assert trial.met


def test_actions_that_were_due_in_vain_and_lost_users_count_against_a_trial(tmp_path: Path) -> None:
    trial = judge(RunFolder(tmp_path / "run", limits=LIMITS, edit=measured(**SKIPS), lost=[1]))
    lost, never_begun = (reason.split(":")[0] for reason in trial.against)
    assert lost == "1 of 4 users had no line at the end (allowed 1.0 %)"
    assert never_begun.startswith("30 of 90 actions that were due were ")
    assert trial.doubts == []


def test_users_who_get_next_to_nothing_count_against_a_trial(tmp_path: Path) -> None:
    trial = judge(RunFolder(tmp_path / "run", limits=LIMITS, slow={0: 9.0}))
    assert trial.against == [f"users were served unlike: Jain's index of 4 users is 0.28 (at least {LEAST_JAIN})"]
    assert not trial.failed_outright
    limited = judge(RunFolder(tmp_path / "other", limits=[*LIMITS, "fairness.jain > 0.1"], slow={0: 9.0}))
    assert limited.met


def test_a_driver_that_is_late_or_busy_spoils_a_trial(tmp_path: Path) -> None:
    trial = judge(RunFolder(tmp_path / "run", limits=LIMITS, edit=measured(cpu=0.95)))
    assert trial.is_driver_limit
    assert trial.doubts == ["the driver was busy: 95.0 % of its cores (allowed 80.0 %)"]
    assert trial.against == []


def test_a_driver_that_is_late_while_the_hypervisor_takes_its_cpus_is_not_blamed(tmp_path: Path) -> None:
    trial = judge(RunFolder(tmp_path / "run", limits=LIMITS, edit=measured(cpu=0.95), steal=25.0))
    assert (trial.stolen, trial.is_driver_limit) == (True, False)
    assert trial.doubts == [
        "the hypervisor took 25.0 % of the host's CPUs (allowed 10.0 %)",
        "the driver was busy: 95.0 % of its cores (allowed 80.0 %)",
    ]


@pytest.mark.parametrize(
    ("measured", "excess", "doubts"),
    [
        ("400ms", None, ["nothing was measured of login.p95"]),
        ("100ms", math.log(2), []),  # it missed, whatever the other is
    ],
)
def test_what_was_not_measured_says_nothing_about_the_host(
    tmp_path: Path, measured: str, excess: float | None, doubts: list[str]
) -> None:
    trial = judge(RunFolder(tmp_path / "run", limits=[f"response.p95 < {measured}", "login.p95 < 1s"]))
    assert trial.excess == (excess and pytest.approx(excess, abs=0.02))
    assert (trial.met, trial.against, trial.doubts, trial.is_driver_limit) == (False, [], doubts, False)


def test_a_driver_without_ports_is_the_limit_and_not_the_host(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", limits=LIMITS, lost=(3,), edit=measured(errors={"out-of-ports": 2}))
    trial = judge(folder)
    assert trial.doubts == ["the driver's machine had no more ports: 60 lines could not be opened"]
    assert trial.is_driver_limit


def test_a_host_that_answers_nothing_has_missed(tmp_path: Path) -> None:
    def silent(row: Row) -> Row:
        return row | {"unfinished": 4, "oldest": 30.0} if row["phase"] == "measure" else row

    trial = judge(RunFolder(tmp_path / "run", limits=LIMITS, responses=lambda *_: [], edit=silent))
    assert not trial.met
    assert trial.excess is None
    assert trial.doubts == []
    assert not trial.is_driver_limit
    assert trial.against


@pytest.mark.parametrize(
    ("first", "then", "limit", "counts"),
    [
        (0.02, 0.2, "400ms", False),  # it meets the limit, and would not for long
        (0.02, 0.2, "100ms", True),  # it misses, and grows worse
        (0.2, 0.02, "400ms", True),  # it meets the limit, and grows better
        (0.2, 0.02, "100ms", False),
    ],
)
def test_a_trial_that_has_not_settled_is_repeated_unless_its_side_is_sure(
    tmp_path: Path, first: float, then: float, limit: str, counts: bool
) -> None:
    def responses(_: int, __: int, second: int) -> list[float]:
        return [first if second < 10 else then] * 4

    trial = judge(RunFolder(tmp_path / "run", limits=[f"response.p95 < {limit}"], responses=responses))
    assert not trial.settled
    assert trial.counts == counts


@pytest.mark.parametrize(("ended", "counts"), [(1, False), (9, False), (10, True)])
def test_a_trial_of_a_few_transactions_does_not_show_that_the_objective_is_met(
    tmp_path: Path, ended: int, counts: bool
) -> None:
    def responses(_: int, __: int, second: int) -> list[float]:
        return [0.2] if second < ended else []

    trial = judge(RunFolder(tmp_path / "run", limits=["response.mean < 400ms"], responses=responses))
    assert trial.met
    assert trial.counts == counts
    missed = judge(RunFolder(tmp_path / "missed", limits=["response.p95 < 100ms"], responses=responses))
    assert missed.counts


def test_a_trial_that_was_cut_short_does_not_count(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(4, 8), limits=LIMITS)
    searched(folder)
    series = folder.path / "agent-0" / "series.jsonl"
    change_rows(series, lambda row: row if row["step"] == 0 or row["start"] < 50 else None)
    first, second = judge_trials(summarise(folder.path), BY_USERS)
    assert first.doubts == []
    assert second.doubts == ["only 16.0 s of 30.0 s were measured"]


def test_each_step_is_a_trial(tmp_path: Path) -> None:
    summary = searched(RunFolder(tmp_path / "run", users=(4, 8, 16), limits=LIMITS, measure=5))
    assert [(trial.step, trial.load) for trial in judge_trials(summary, BY_USERS)] == [(0, 4), (1, 8), (2, 16)]


def test_a_rate_is_read_from_the_load(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", load="open:2.5/s", limits=LIMITS)
    assert [each.load for each in judge_trials(searched(folder), replace(BY_USERS, whole=False))] == [2.5]


def test_the_figures_at_the_top_are_of_a_trial_that_counts(tmp_path: Path) -> None:
    """The last trial is in doubt, for the driver was busy in it."""
    edit = lambda row: row | ({"cpu": 0.95} if row["step"] == 1 else {})  # noqa: E731
    summary = searched(RunFolder(tmp_path / "run", users=(4, 8), limits=LIMITS, edit=edit))
    assert [each.counts for each in judge_trials(summary, BY_USERS)] == [True, False]
    assert summary.json()["users"] == 4


def test_a_load_above_what_the_host_can_do_is_missed_however_short_its_responses_still_are(tmp_path: Path) -> None:
    def half_of_what_is_due(row: Row) -> Row:
        return row | {"passes": 2, "sums": row["sums"] | {"think": 0.0, "keying": 1.0}}

    trial = judge(RunFolder(tmp_path / "run", load="paced:1s", edit=half_of_what_is_due, limits=LIMITS))
    assert (trial.counts, trial.met) == (True, False)
    assert "overloaded: 4.00 passes/s were due and 2.00/s ended" in trial.against[0]


def test_a_trial_in_which_a_node_said_nothing_is_repeated_and_is_no_limit_of_the_driver(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(4, 4), agents=2, limits=LIMITS)
    searched(folder)
    notes: list[Row] = [{"at": CLOCK, "agent": 1, "start_at": CLOCK, "clock": "b", "offset": 0, "node": "driver2"}]
    notes += [{"at": CLOCK + 40 * NANO, "agent": 1, "silent": 2 * NANO}]
    write_rows(folder.path / "agents.jsonl", notes)
    first, second = judge_trials(summarise(folder.path), BY_USERS)
    assert first.counts
    assert (second.doubts, second.is_driver_limit) == (["driver2 said nothing for 2.00 s"], False)


def test_the_trials_before_an_agent_died_count(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=2, limits=LIMITS)
    searched(folder)
    notes = [{"at": CLOCK, "agent": 1, "start_at": CLOCK, "clock": "b", "offset": 0}]
    notes += [{"agent": 1, "died": "was killed by signal 9", "at": CLOCK + 40 * NANO}]
    (folder.path / "agents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in notes))
    summary = summarise(folder.path)
    assert [each.doubt.name for each in summary.doubts] == ["agent_died"]
    assert judge_trials(summary, BY_USERS)[0].doubts == []
