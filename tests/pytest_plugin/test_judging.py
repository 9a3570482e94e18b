"""What runs that are held against a baseline can tell, simulated."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.analysis.compare.metrics import EXPLORATORY
from cuesta.analysis.compare.sides import Side
from cuesta.pytest_plugin.judging import judge_against
from cuesta.pytest_plugin.terms import BaselineTerms, read_baseline_terms
from tests.analysis.runs import unmeasured_run

TESTS = 60
DAYS, RUNS = 0.05, 0.03
"""Standard deviations of days and of the runs of one day."""


def runs_of_a_day(dice: random.Random, name: str, echo: float) -> Side:
    day = dice.lognormvariate(0, DAYS)
    side = Side(Path(name), [], [])
    for number in range(5):
        p50, p95 = echo * day * dice.lognormvariate(0, RUNS), 2 * echo * day * dice.lognormvariate(0, 2 * RUNS)
        figures = {**dict.fromkeys(each.name for each in EXPLORATORY), "echo.p50": p50, "echo.p95": p95}
        run = unmeasured_run(number, name, totals=dict.fromkeys(figures, 50))
        side.runs.append(replace(run, figures={**run.figures, **figures}))
    return side


def play(terms: BaselineTerms, echo: float, factor: float) -> Counter[str]:
    """The outcomes of a number of tests of a program that became slower by a factor."""
    dice = random.Random(f"{echo} {factor}")
    sides = ((runs_of_a_day(dice, "base", echo), runs_of_a_day(dice, "new", echo * factor)) for _ in range(TESTS))
    return Counter(judge_against(base, new, terms).outcome for base, new in sides)


@pytest.mark.parametrize("echo", [0.004, 0.03, 0.15])
def test_equal_programs_do_not_fail_and_much_slower_ones_do(echo: float) -> None:
    """A program of which it is known that it is no worse is called so in 9 of 10; see docs/pytest.md."""
    terms = read_baseline_terms({})
    equal, slower = play(terms, echo, 1.0), play(terms, echo, 3.0)
    assert equal["failed"] <= TESTS / 20
    assert equal["passed"] >= 0.9 * TESTS
    assert slower["failed"] >= 0.95 * TESTS


def test_a_margin_is_beyond_which_a_change_fails() -> None:
    """A change of 40 % is beyond 10 %, one of 15 % is within 50 %, and 4 ms are within 20 ms."""
    assert play(read_baseline_terms({"margin": "10%"}), 0.03, 1.4)["failed"] >= 0.9 * TESTS
    assert play(read_baseline_terms({"margin": "50%"}), 0.03, 1.15)["failed"] == 0
    assert play(read_baseline_terms({"margin": "20ms"}), 0.004, 2.0) == {"passed": TESTS}


def test_slow_keys_alone_can_fail_a_test() -> None:
    dice = random.Random(1)
    base, new = runs_of_a_day(dice, "base", 0.03), runs_of_a_day(dice, "new", 0.03)
    for number, run in enumerate(new.runs):
        new.runs[number] = replace(run, figures={**run.figures, "echo.p95": 0.5 + number / 100})
    judgement = judge_against(base, new, read_baseline_terms({}))
    assert (judgement.outcome, judgement.sentence[:36]) == ("failed", "worse than the baseline: echo p95: 6")


def test_responses_are_judged_where_no_key_is_timed() -> None:
    dice = random.Random(1)
    base, new = runs_of_a_day(dice, "base", 0.03), runs_of_a_day(dice, "new", 0.3)
    for side in (base, new):
        for number, run in enumerate(side.runs):
            figures = {name.replace("echo", "response"): value for name, value in run.figures.items()}
            side.runs[number] = replace(run, figures={**run.figures, **dict.fromkeys(run.figures), **figures})
    judgement = judge_against(base, new, read_baseline_terms({}))
    assert judgement.sentence.startswith("worse than the baseline: response p50: ")
