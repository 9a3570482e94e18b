"""The chance of a false claim stays below its level over all looks, whatever the differences look like."""

import math

import numpy as np
import pytest

from cuesta.analysis.compare.looks import Look, find_rank, plan_looks, plan_pairs
from cuesta.analysis.compare.versions import LEVEL
from cuesta.analysis.hodges_lehmann import paired

MARGIN = math.log1p(0.05)
DRAWS = 4000
Claims = tuple[float, float, float]
"""The share of comparisons that claim `worse` and `no worse`, and the mean number of pairs after which they end."""


@pytest.mark.parametrize("most", range(6, 61))
def test_the_chances_of_all_looks_are_within_the_level(most: int) -> None:
    for level in (LEVEL, LEVEL / 2):
        planned = plan_pairs(most, level)
        looks = list(plan_looks(planned, level))
        assert sum(map(chance_of, looks)) <= level
        if level == LEVEL:
            assert planned[-1] == most
            assert all(look.rank for look in looks)


def chance_of(look: Look) -> float:
    """The exact chance that a look's bound is beyond the true shift: by all signs of the ranks."""
    if not look.rank:
        return 0.0
    sums = np.array([1.0])
    for rank in range(1, look.pairs + 1):
        sums = np.convolve(sums, np.r_[0.5, np.zeros(rank - 1), 0.5])
    return float(sums[: look.rank].sum())


def test_fewer_than_six_pairs_can_claim_nothing() -> None:
    assert [plan_pairs(most, LEVEL) for most in range(1, 7)] == [[], [], [], [], [], [6]]


def test_the_first_look_at_twelve_pairs_is_early_and_leaves_enough_for_the_last() -> None:
    assert plan_pairs(12, LEVEL) == [7, 12]
    assert simulate("normal", 12, 0.0, 0.01) == (0.0, 1.0, 7.0)
    assert simulate("normal", 12, math.log1p(0.10), 0.05)[0] > 0.74


def test_what_ends_early_has_the_rest_of_the_level() -> None:
    planned = plan_pairs(20, LEVEL)
    assert planned == [7, 10, 14, 20]
    ended = list(plan_looks(planned, LEVEL, ended_at=12))
    assert [look.pairs for look in ended] == [7, 10, 12]
    assert sum(map(chance_of, ended)) <= LEVEL
    assert ended[-1].rank > find_rank(12, LEVEL * 12 / 20 - sum(map(chance_of, ended[:-1])))[0]


def test_bounds_are_walsh_averages() -> None:
    shift = paired([0.0] * 7, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0])
    assert Look(7, 1).bounds(shift) == (1.0, 9.0)
    assert Look(7, 0).bounds(shift) is None


@pytest.mark.parametrize("law", ["normal", "heavy tails", "outliers"])
@pytest.mark.parametrize("most", [8, 12, 20])
def test_a_change_of_just_the_margin_is_hardly_ever_called_anything(law: str, most: int) -> None:
    """The true change is the margin, so that `worse` and `no worse` are both false. Three standard errors of room."""
    worse, no_worse, _ = simulate(law, most, shift=MARGIN, spread=0.05)
    allowed = LEVEL + 3 * math.sqrt(LEVEL / DRAWS)
    assert worse <= allowed
    assert no_worse <= allowed


@pytest.mark.parametrize(
    ("shift", "spread", "claim", "share"),
    [
        (0.00, 0.03, "no worse", 0.99),
        (0.10, 0.03, "worse", 0.90),
        (0.20, 0.08, "worse", 0.90),
        (0.20, 0.03, "worse", 0.99),
    ],
)
def test_changes_are_found_within_twelve_pairs(shift: float, spread: float, claim: str, share: float) -> None:
    worse, no_worse, _ = simulate("normal", 12, math.log1p(shift), spread)
    assert {"worse": worse, "no worse": no_worse}[claim] >= share


@pytest.mark.parametrize("spread", [0.02, 0.08, 0.3])
def test_however_noisy_the_pairs_are_the_wrong_claim_is_rare(spread: float) -> None:
    """Equal versions are not called worse, and versions that are 10 % slower not `no worse`: it cannot tell instead."""
    worse, _, _ = simulate("heavy tails", 12, 0.0, spread)
    _, no_worse, _ = simulate("heavy tails", 12, math.log1p(0.10), spread)
    assert max(worse, no_worse) <= LEVEL + 3 * math.sqrt(LEVEL / DRAWS)


def test_a_large_change_needs_only_the_first_look() -> None:
    assert simulate("normal", 20, math.log1p(0.8), 0.05)[2] == 7


def simulate(law: str, most: int, shift: float, spread: float) -> Claims:
    """Comparisons of pairs whose logarithms differ by `shift`, with the standard deviation `spread`."""
    generator = np.random.default_rng(7)
    noise = {
        "normal": lambda: generator.standard_normal((DRAWS, most)),
        "heavy tails": lambda: generator.standard_t(3, (DRAWS, most)),
        "outliers": lambda: (
            generator.standard_normal((DRAWS, most)) * np.where(generator.random((DRAWS, most)) < 0.1, 10, 1)
        ),
    }[law]()
    differences = shift + spread * noise
    worse, no_worse, ended = np.zeros(DRAWS, bool), np.zeros(DRAWS, bool), np.full(DRAWS, most)
    for look in plan_looks(plan_pairs(most, LEVEL), LEVEL):
        left, right = np.triu_indices(look.pairs)
        seen = differences[:, : look.pairs]
        walsh = np.sort((seen[:, left] + seen[:, right]) / 2, axis=1)
        is_open = ~(worse | no_worse)
        is_worse, is_no_worse = walsh[:, look.rank - 1] > MARGIN, walsh[:, -look.rank] <= MARGIN
        ended[is_open & (is_worse | is_no_worse)] = look.pairs
        worse |= is_open & is_worse
        no_worse |= is_open & is_no_worse
    return float(worse.mean()), float(no_worse.mean()), float(ended.mean())
