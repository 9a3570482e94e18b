"""Exact estimates and intervals: against published tables, and against every arrangement, one by one."""

import random
from collections.abc import Iterable, Sequence
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.hodges_lehmann import LocationShift, least_runs, paired, rank_sums, signed_rank_sums, unpaired

FIRST = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
SECOND = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
AT_TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLIER = [1.15, 0.88, 0.90, 0.74, 1.21]


@pytest.mark.parametrize(
    ("shift", "p_value", "estimate", "low", "high", "confidence"),
    [
        (paired(FIRST, SECOND), 0.0391, -0.460, -0.786, -0.010, 0.961),  # example 3.1, pp. 40 and 53
        (unpaired(AT_TERM, EARLIER), 0.2544, -0.305, -0.760, 0.150, 0.960),  # example 4.1, pp. 111 and 126
    ],
)
def test_examples_of_a_textbook(
    shift: LocationShift, p_value: float, estimate: float, low: float, high: float, confidence: float
) -> None:
    """M. Hollander and D. A. Wolfe, Nonparametric Statistical Methods, 2nd ed."""
    interval = shift.interval(0.95)
    assert interval
    assert (round(shift.p_value(), 4), round(shift.estimate, 3)) == (p_value, estimate)
    assert [round(each, 3) for each in (interval.low, interval.high, interval.confidence)] == [low, high, confidence]


@pytest.mark.parametrize(
    ("counts", "critical"),
    [
        *((signed_rank_sums(6), 0), (signed_rank_sums(7), 2), (signed_rank_sums(8), 3), (signed_rank_sums(9), 5)),
        *((signed_rank_sums(10), 8), (signed_rank_sums(15), 25), (signed_rank_sums(20), 52)),
        *((signed_rank_sums(25), 89), (rank_sums(4, 4), 0), (rank_sums(5, 5), 2), (rank_sums(5, 8), 6)),
        *((rank_sums(8, 8), 13), (rank_sums(10, 10), 23), (rank_sums(20, 20), 127)),
    ],
)
def test_critical_values_are_those_of_the_tables(counts: Sequence[int], critical: int) -> None:
    """Two-sided 5 %, as every table of Wilcoxon's and of Mann and Whitney's has them."""
    assert 2 * sum(counts[: critical + 1]) / sum(counts) <= 0.05 < 2 * sum(counts[: critical + 2]) / sum(counts)


VALUES = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=6)


@given(st.permutations(range(10)), st.integers(1, 9), st.integers(0, 10))
def test_the_rank_sum_test_matches_enumeration_of_arrangements(order: list[int], base: int, at: int) -> None:
    shift = at + 0.5  # between the values: nothing ties
    moved = [float(value) if i < base else value - shift for i, value in enumerate(order)]

    def distance(chosen: Iterable[int]) -> int:
        inside = set(chosen)
        return abs(sum((moved[a] > moved[b]) - (moved[a] < moved[b]) for a in inside for b in set(range(10)) - inside))

    seen = distance(range(base, 10))
    ways = [distance(chosen) >= seen for chosen in combinations(range(10), 10 - base)]
    p_value = unpaired([float(each) for each in order[:base]], [float(each) for each in order[base:]]).p_value(shift)
    assert p_value == pytest.approx(sum(ways) / len(ways))


@given(st.permutations([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]), st.lists(st.booleans(), min_size=7, max_size=7))
def test_the_signed_rank_test_matches_enumeration_of_signs(sizes: list[float], signs: list[bool]) -> None:
    def sum_of(signs: Iterable[bool]) -> int:
        return abs(sum(rank if up else -rank for rank, up in enumerate(signs, 1)))

    by_size = [sign for _, sign in sorted(zip(sizes, signs, strict=True))]
    ways = [sum_of(each) >= sum_of(by_size) for each in product((False, True), repeat=7)]
    new = [size if sign else -size for size, sign in zip(sizes, signs, strict=True)]
    assert paired([0.0] * 7, new).p_value() == pytest.approx(sum(ways) / len(ways))


@given(VALUES, VALUES, st.integers(-6, 6), st.randoms(use_true_random=False))
def test_ties_make_the_test_conservative(base: list[float], new: list[float], at: int, rng: random.Random) -> None:
    """However ties are broken, the test with ties must not reject more often."""
    base_apart, new_apart = ([value + rng.uniform(-1, 1) / 100 for value in values] for values in (base, new))
    assert unpaired(base, new).p_value(at) >= unpaired(base_apart, new_apart).p_value(at)
    pairs = min(len(base), len(new))
    whole = paired(base[:pairs], new[:pairs]).p_value(at)
    assert whole >= paired(base_apart[:pairs], new_apart[:pairs]).p_value(at)


@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=9),
    st.lists(st.floats(-100, 100), min_size=1, max_size=9),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
    st.floats(-50, 50),
)
def test_the_test_does_not_reject_values_inside_the_interval(
    base: list[float], new: list[float], confidence: float, at: float
) -> None:
    for shift in (unpaired(base, new), paired(base[: len(new)], new[: len(base)])):
        interval = shift.interval(confidence)
        inside = interval is None or interval.low <= at <= interval.high
        assert inside == (shift.p_value(at) > 1 - confidence)
        assert interval is None or interval.low <= shift.estimate <= interval.high


@given(VALUES, VALUES)
def test_swapping_the_sides_negates_the_result(base: list[float], new: list[float]) -> None:
    there, back = unpaired(base, new), unpaired(new, base)
    assert there.estimate == -back.estimate
    assert there.p_value() == back.p_value()


def test_runs_that_an_interval_needs() -> None:
    assert (least_runs(0.95, in_pairs=False), least_runs(0.95, in_pairs=True)) == (4, 6)
    assert (least_runs(1 - 0.05 / 3, in_pairs=False), least_runs(1 - 0.05 / 3, in_pairs=True)) == (5, 7)
    assert unpaired([1, 2, 3], [4, 5, 6]).interval(0.95) is None
    assert unpaired([1, 2, 3, 4], [5, 6, 7, 8]).interval(0.95) is not None
    assert paired([0.0] * 5, [1.0] * 5).interval(0.95) is None
    assert paired([0.0] * 6, [1.0] * 6).interval(0.95) is not None
