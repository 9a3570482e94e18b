"""The stated power of a number of runs is right, for few and many runs, unpaired and in pairs."""

import math
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

from cuesta.analysis.compare.verdict import ALPHA, FEW, least_change, runs_to_show
from cuesta.analysis.hodges_lehmann import least_runs, paired, unpaired

SPREAD = 0.03


def share_detected(gap: float, runs: int, in_pairs: bool, alpha: float, comparisons: int = 400) -> float:
    """The share of simulated comparisons that detect a change."""
    rng, times = random.Random(80), 0
    for _ in range(comparisons):
        base, new = ([rng.gauss(level, SPREAD) for _ in range(runs)] for level in (0.0, gap))
        shift = paired([0.0] * runs, new) if in_pairs else unpaired(base, new)
        times += shift.p_value() <= alpha
    return times / comparisons


@pytest.mark.parametrize("in_pairs", [False, True])
@pytest.mark.parametrize("tests", [1, 3, 4])
@pytest.mark.parametrize("runs", [8, 12, FEW + 1])
def test_the_smallest_detectable_change_is_found_4_times_in_5(runs: int, tests: int, in_pairs: bool) -> None:
    """The share in 400 comparisons is 0.8 ± 0.02 (standard deviation); 0.72 to 0.88 is four of them on either side."""
    least = least_change(runs, SPREAD, in_pairs, ALPHA / tests)
    assert least
    assert 0.72 <= share_detected(least, runs, in_pairs, ALPHA / tests) <= 0.88


@pytest.mark.parametrize(
    ("gap", "in_pairs", "tests"), [(0.02, False, 1), (0.03, False, 1), (0.03, True, 4), (0.05, True, 3)]
)
def test_the_stated_number_of_runs_finds_the_change(gap: float, in_pairs: bool, tests: int) -> None:
    runs = runs_to_show(gap, SPREAD, in_pairs, ALPHA / tests)
    assert 0.72 <= share_detected(gap, runs, in_pairs, ALPHA / tests, 200 if runs > FEW else 400) <= 0.93
    least = least_change(runs, SPREAD, in_pairs, ALPHA / tests)
    assert least
    assert least <= gap * 1.01


def test_the_documented_table_matches_the_computation() -> None:
    text = (Path(__file__).parents[3] / "docs" / "compare.md").read_text()
    rows = re.findall(r"^\| (\d+) % \| ([\d.]+) % \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert len(rows) == 3
    for spread, finds, for_3, for_5 in rows:
        least = least_change(8, int(spread) / 100, True, ALPHA / 4)
        assert least
        assert f"{100 * math.expm1(least):.2g}" == finds
        needed = (runs_to_show(math.log1p(gap), int(spread) / 100, True, ALPHA / 4) for gap in (0.03, 0.05))
        assert tuple(needed) == (int(for_3), int(for_5))


def test_more_runs_find_less_and_more_tests_need_more() -> None:
    by_runs = [least_change(runs, SPREAD, True, ALPHA / 4) or 0.0 for runs in range(8, 40)]
    assert all(after <= before * 1.02 for before, after in pairwise(by_runs))
    assert runs_to_show(0.03, SPREAD, True, ALPHA) < runs_to_show(0.03, SPREAD, True, ALPHA / 4)


def test_too_few_runs_find_nothing() -> None:
    """Four figures judged together need 8 pairs for any claim at all, three 7, one 6."""
    for tests, pairs in ((1, 6), (3, 7), (4, 8)):
        assert least_runs(1 - ALPHA / tests, in_pairs=True) == pairs
        assert least_change(pairs - 1, SPREAD, True, ALPHA / tests) is None
