"""The verdict on two versions by made-up pairs: what decides, what guards, and when it ends."""

import random
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.analysis.compare.comparability import HOST, KINDS
from cuesta.analysis.compare.looks import plan_pairs
from cuesta.analysis.compare.paired_figure import Claim, Margin
from cuesta.analysis.compare.sides import ComparedRun
from cuesta.analysis.compare.versions import LEVEL, Verdict, VersionComparison, VersionRun
from cuesta.analysis.compare.versions import compare_versions as judge
from cuesta.analysis.waits import Waits
from cuesta.ledger.versions import VersionsRecord

RECORD = VersionsRecord(
    names=("1.4", "1.5"),
    targets=("pty:app-1.4", "pty:app-1.5"),
    tape="typing",
    figures=("echo.p50",),
    guards=("echo.p95",),
    margin_share=0.05,
    budget=180,
    planned=tuple(plan_pairs(12, LEVEL)),
)
Pair = tuple[VersionRun, VersionRun]


def run(number: int, p50: float | None, p95: float | None, errors: float = 0.0, keys: int = 40) -> VersionRun:
    facts: dict[str, dict[str, object]] = {kind: {} for kind in (*KINDS, HOST)}
    compared = ComparedRun(
        folder=Path(f"pair-{number}"),
        started=f"{number} {p50} {p95}",
        facts=facts,
        figures=defaultdict(lambda: None),
        parts={},
        effective_sizes={},
        totals={"echo.p50": keys, "echo.p95": keys},
        bounds=set(),
        failures={"errors.rate": errors, "users.without_work": 0.0},
        errors=0,
        metered=0.0,
        honesty="",
        why_excluded=None,
    )
    return VersionRun(compared, {"echo.p50": p50, "echo.p95": p95}, Waits(), None if p50 else "nothing echoed")


def pairs(number: int, slower: float = 1.0, slow_keys: float = 1.0, noise: float = 0.02, **more: float) -> list[Pair]:
    """Pairs of runs of 30 ms, and of 60 ms for the slowest keys."""
    dice = random.Random(3)
    noisy = [[dice.gauss(1, noise) for _ in range(4)] for _ in range(number)]
    return [
        (run(k, 0.03 * a, 0.06 * b), run(k, 0.03 * slower * c, 0.06 * slow_keys * d, **more))  # type: ignore[arg-type]
        for k, (a, b, c, d) in enumerate(noisy)
    ]


def compare(made: list[Pair], **record: object) -> VersionComparison:
    return judge(Path("runs"), made, RECORD.model_copy(update=record))


@pytest.mark.parametrize(
    ("slower", "slow_keys", "verdict"),
    [
        (1.0, 1.0, Verdict.NO_WORSE),
        (0.5, 0.5, Verdict.NO_WORSE),
        (1.2, 1.2, Verdict.WORSE),
        (1.05, 1.0, Verdict.CANNOT_TELL),
        (1.0, 1.5, Verdict.WORSE),
    ],
)
def test_each_change_has_its_verdict(slower: float, slow_keys: float, verdict: Verdict) -> None:
    assert compare(pairs(12, slower, slow_keys)).verdict == verdict


def test_it_ends_at_the_first_look_that_tells_and_later_pairs_change_nothing() -> None:
    made = pairs(12, 1.3, 1.3)
    found = compare(made)
    assert found.pairs == RECORD.planned[0] < 12
    assert compare(made[: found.pairs]).figures == found.figures
    assert compare(made[: found.pairs - 1]).verdict == Verdict.CANNOT_TELL


def test_one_look_alone_cannot_be_taken_between_planned_looks() -> None:
    few = pairs(RECORD.planned[0] - 1, 2.0)
    assert compare(few).verdict == Verdict.CANNOT_TELL
    assert compare(few).figures[0].difference.low is None
    assert compare(few, ended="budget").verdict == Verdict.WORSE, "no other look will be taken"


def test_the_interval_has_the_true_difference() -> None:
    (echo, *_) = compare(pairs(12, 1.5)).figures
    difference = echo.difference
    assert difference.low
    assert difference.high
    assert difference.low < 0.015 < difference.high
    assert difference.high - difference.low < 0.003


def test_slow_keys_that_are_only_undecided_do_not_hold_up_the_verdict() -> None:
    dice = random.Random(1)
    noisy = [
        (run(k, 0.03, 0.06 * dice.uniform(0.5, 2)), run(k, 0.0301 + k / 1e6, 0.06 * dice.uniform(0.5, 2)))
        for k in range(12)
    ]
    found = compare(noisy)
    assert found.verdict == Verdict.NO_WORSE
    (guard, _) = found.guards
    assert guard.claim is None
    assert guard.ratio
    assert guard.ratio.high is None or guard.ratio.high > 1.05


@pytest.mark.parametrize(("slower", "verdict"), [(1.1, Verdict.NO_WORSE), (1.25, Verdict.WORSE)])
def test_slow_keys_that_seem_worse_are_waited_for_until_the_last_look(slower: float, verdict: Verdict) -> None:
    dice = random.Random(2)
    noise = [dice.uniform(0.75, 1.4) for _ in range(12)]
    made = [(run(k, 0.03 + k / 1e6, 0.06), run(k, 0.03 + k / 9e5, 0.06 * slower * noise[k])) for k in range(12)]
    found = compare(made[: RECORD.planned[0]])
    assert found.judged[0].claim == Claim.NO_WORSE
    assert found.guards[0].is_suspicious
    assert found.verdict == Verdict.CANNOT_TELL
    assert compare(made).verdict == verdict


def test_a_version_that_fails_more_is_worse_however_quick_it_is() -> None:
    assert compare(pairs(12, 0.5, 0.5, errors=0.1)).verdict == Verdict.WORSE


def test_few_keys_say_nothing_of_the_slowest_in_twenty() -> None:
    found = compare(pairs(12, 1.0, 3.0, keys=12))
    assert found.verdict == Verdict.NO_WORSE
    assert found.guards[0].missing == "12 values a run, 20 needed"


def test_what_is_named_is_judged_alone() -> None:
    others = {"figures": ["echo.p95"], "guards": []}
    assert compare(pairs(12, 1.5, 1.0), **others).verdict == Verdict.NO_WORSE
    assert compare(pairs(12, 1.0, 1.5), **others).verdict == Verdict.WORSE


@pytest.mark.parametrize(
    ("margin", "verdict"),
    [
        (Margin(None, 0.002), Verdict.NO_WORSE),
        (Margin(None, 0.001), Verdict.CANNOT_TELL),
        (Margin(None, 0.0005), Verdict.WORSE),
        (Margin(0.01, 0.002), Verdict.NO_WORSE),
        (Margin(0.01, 0.0005), Verdict.WORSE),
        (Margin(0.1, 0.0005), Verdict.NO_WORSE),
    ],
)
def test_a_margin_may_be_a_share_or_a_duration_or_the_larger_of_both(margin: Margin, verdict: Verdict) -> None:
    """The true difference is 1 ms of 30 ms."""
    allowed = {"margin_share": margin.share, "margin_difference": margin.difference}
    assert compare(pairs(12, 31 / 30, noise=0.003), guards=[], **allowed).verdict == verdict


def test_lower_bounds_prove_no_improvement() -> None:
    made = [
        (one, replace(other, compared=replace(other.compared, bounds={"echo.p50"})))
        for one, other in pairs(12, 0.5, 0.5)
    ]
    assert compare(made).verdict == Verdict.CANNOT_TELL


def test_a_version_where_nothing_is_measured_is_named() -> None:
    made = pairs(2)
    broken = [*made, (made[0][0], run(3, None, None))]
    found = compare(broken)
    assert (found.verdict, found.why) == (Verdict.NOT_VALID, ["1.5: nothing echoed"])


def test_a_pair_with_a_run_that_does_not_count_is_left_out() -> None:
    made = pairs(8)
    spoilt = replace(made[2][1], compared=replace(made[2][1].compared, why_excluded="the driver was late"))
    found = compare([*made[:2], (made[2][0], spoilt), *made[3:]], ended="budget")
    assert found.pairs == 7
    assert [each.why for each in found.left_out] == ["the other run of its pair is left out", "the driver was late"]


def test_unlike_runs_are_refused() -> None:
    made = pairs(12)
    other = [
        (
            one,
            replace(two, compared=replace(two.compared, facts={**two.compared.facts, "tapes": {"typing": "another"}})),
        )
        for one, two in made
    ]
    assert compare(other).verdict == Verdict.REFUSED
    despite = compare(other, despite="we wanted to know")
    assert despite.verdict == Verdict.NO_WORSE
    assert [str(each) for each in despite.unlike] == ["tapes: typing (none) against another"]
