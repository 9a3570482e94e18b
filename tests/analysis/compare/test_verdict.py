"""Verdicts over runs: how often they are false, how often they detect a change, and what they say about few runs.

All runs are simulated with fixed seeds. Their spreads are those measured in runs of 900 s of a closed load with a
server 70 % busy, including 3 % of noise between runs: 1.8 % in throughput and demand, 10 % in a p95.
"""

import math
import random
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.compare.metrics import Metric
from cuesta.analysis.compare.verdict import (
    ALPHA,
    MetricComparison,
    RatioTest,
    Verdict,
    adjust_p_values,
    estimate_ratio,
    judge_figures,
)
from cuesta.figures import Unit

MARGIN = 0.05
THROUGHPUT, P95 = 0.018, 0.102
TO_SETTLE_3_PERCENT = {False: 19, True: 20}
"""Runs a side, and pairs, that show four times in five that this change is below the margin of 5 %."""


def figure(
    base: Sequence[float], new: Sequence[float], in_pairs: bool = False, name: str = "demand"
) -> MetricComparison:
    """A figure with these logarithms, run by run."""
    metric = Metric(name, name, Unit.SECONDS, more_is_better=name == "throughput")
    sides = (list(map(math.exp, base)), list(map(math.exp, new)))
    return MetricComparison(metric, *sides, in_pairs, compensation=None, missing=None)


def judge(figures: Sequence[MetricComparison]) -> dict[str, RatioTest]:
    return {each.metric.name: each.test for each in judge_figures(figures, MARGIN) if each.test}


def figures(rng: random.Random, runs: int, throughput: float = 0.0, in_pairs: bool = False) -> list[MetricComparison]:
    """Make runs of two systems. The figures of a run are correlated: half of their variance is common to them."""

    def side(change: float) -> dict[str, list[float]]:
        own = [rng.gauss(0, 1) for _ in range(runs)]
        return {
            name: [level + spread * (each + rng.gauss(0, 1)) / math.sqrt(2) for each in own]
            for name, spread, level in (
                ("demand", THROUGHPUT, 0.0),
                ("throughput", THROUGHPUT, change),
                ("response.p95", P95, 0.0),
            )
        }

    base, new = side(0.0), side(math.log1p(throughput))
    return [figure(base[name], new[name], in_pairs, name) for name in base]


def is_changed(tests: dict[str, RatioTest]) -> bool:
    """Whether any verdict says that a figure changed."""
    return any(each.verdict in (Verdict.FASTER, Verdict.SLOWER, Verdict.BELOW) for each in tests.values())


@pytest.mark.parametrize("in_pairs", [False, True])
@pytest.mark.parametrize("runs", [5, 8])
def test_equal_systems_are_seldom_called_unequal(runs: int, in_pairs: bool) -> None:
    rng = random.Random(2026)
    false = sum(is_changed(judge(figures(rng, runs, in_pairs=in_pairs))) for _ in range(1000))
    assert false <= 0.05 * 1000


@pytest.mark.parametrize("in_pairs", [False, True])
def test_a_change_of_3_percent_is_placed_below_the_margin_4_times_in_5(in_pairs: bool) -> None:
    rng, runs = random.Random(5), TO_SETTLE_3_PERCENT[in_pairs]
    words = [judge(figures(rng, runs, 0.03, in_pairs))["throughput"].verdict for _ in range(300)]
    assert words.count(Verdict.BELOW) >= 0.8 * 300
    assert not {Verdict.FASTER, Verdict.SLOWER, Verdict.EQUIVALENT} & set(words[:50]), "it is neither"


def test_drift_misleads_runs_in_blocks_but_not_pairs() -> None:
    """10 % of drift over a session of 6 + 6 runs of one system."""
    rng = random.Random(10)
    in_blocks = in_pairs = 0
    for _ in range(300):
        runs = [0.10 * number / 11 + rng.gauss(0, 0.03) for number in range(12)]
        in_blocks += judge([figure(runs[:6], runs[6:])])["demand"].p_equal <= ALPHA
        order = [(4 * k + i, 4 * k + j) for k in range(3) for i, j in ((0, 1), (3, 2))]  # A B B A
        base, new = ([runs[pair[side]] for pair in order] for side in (0, 1))
        in_pairs += judge([figure(base, new, in_pairs=True)])["demand"].p_equal <= ALPHA
    assert in_blocks > 0.4 * 300
    assert in_pairs <= 0.05 * 300


def test_the_stated_number_of_runs_finds_the_margin() -> None:
    *_, p95 = figures(random.Random(1), 8, in_pairs=True)
    told = judge([p95])["response.p95"]
    assert told.least_change
    assert told.least_change > MARGIN
    assert told.runs_for_margin
    assert 40 < told.runs_for_margin < 120, "about 70 + 70 runs, or as many pairs with the same noise"


def test_two_runs_give_no_detectable_change() -> None:
    told = judge([figure([0.0, 0.01], [0.0, 0.02])])["demand"]
    assert (told.least_change, told.runs_for_margin) == (None, None)


@pytest.mark.parametrize(
    ("level", "word"),
    [
        (0.0, Verdict.EQUIVALENT),
        (0.02, Verdict.BELOW),
        (0.05, Verdict.INCONCLUSIVE),
        (0.2, Verdict.SLOWER),
        (-0.2, Verdict.FASTER),
    ],
)
def test_each_verdict(level: float, word: Verdict) -> None:
    base = [0.0, 0.001, 0.002, 0.003, 0.004, 0.005]
    demand = figure(base, [level + 0.0005 + each for each in base])
    found = judge([demand])["demand"]
    assert found.verdict == word
    assert estimate_ratio(demand).ratio == pytest.approx(math.exp(level + 0.0005), rel=1e-3)
    assert (found.more_runs is None) == (word != Verdict.INCONCLUSIVE)


def test_too_few_runs_say_how_many_more_are_needed() -> None:
    three = [figure([0.0], [1.0], name=name) for name in ("demand", "throughput", "p95")]
    assert judge(three[:1])["demand"].more_runs == 3
    assert judge(three)["demand"].more_runs == 4
    pairs = figure([0.0, 0.0, 0.0], [1.0, 1.01, 0.99], in_pairs=True)
    found = judge([pairs])["demand"]
    assert (found.verdict, estimate_ratio(pairs).interval, found.more_runs) == (Verdict.INCONCLUSIVE, None, 3)


def test_a_change_equal_to_the_margin_is_never_decided() -> None:
    edge = math.log1p(MARGIN)
    demand = figure([-0.03, -0.01, 0.01, 0.03], [edge - 0.03, edge - 0.01, edge + 0.01, edge + 0.03])
    found = judge([demand])["demand"]
    assert (found.verdict, found.more_runs) == (Verdict.INCONCLUSIVE, None)


def test_one_figure_among_three_needs_more_evidence_than_one_alone() -> None:
    shifted = figure([0.0, 0.01, 0.02, 0.03], [1.0, 1.01, 1.02, 1.03], name="a")
    same = [figure([0.0, 0.01, 0.02, 0.03], [0.001, 0.011, 0.021, 0.031], name=name) for name in ("b", "c")]
    assert judge([shifted])["a"].verdict == Verdict.SLOWER
    found = judge([shifted, *same])["a"]
    assert found.verdict == Verdict.INCONCLUSIVE
    assert found.more_runs == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holms_rule_rejects_what_closed_testing_does(p_values: list[float]) -> None:
    """A figure changed if Bonferroni's rule rejects every set of figures that contains it."""
    named = {str(number): p_value for number, p_value in enumerate(p_values)}
    groups = [group for size in range(1, len(named) + 1) for group in combinations(named, size)]
    for name, adjusted in adjust_p_values(named).items():
        chances = [len(group) * min(named[each] for each in group) for group in groups if name in group]
        assert adjusted == pytest.approx(min(1.0, max(chances)))
