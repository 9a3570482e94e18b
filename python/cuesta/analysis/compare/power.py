"""Power of the test: the smallest change that a number of runs detects, and the number that detects a given change.

Up to FEW runs it is simulated, because the normal approximation is too optimistic for so few ranks; for more runs it is
approximated.
"""

import math
import random
import statistics
from functools import cache

from cuesta.analysis.hodges_lehmann import LocationShift, least_runs, paired, unpaired

POWER = 0.8
"""Chance that the proposed number of runs detects the change."""
MOST_RUNS = 500
"""The largest number of runs a side that is proposed."""
FEW = 25
"""The largest number of runs a side (or pairs) that is simulated."""
DRAWS = 1000
"""Number of simulated comparisons, which gives the power within about 1 %."""


def least_change(runs: int, spread: float, in_pairs: bool, alpha: float) -> float | None:
    """Smallest change that `runs` runs a side (or pairs) detect four times in five; None if they detect none.

    The change, and `spread`, the standard deviation between runs or pairs, are in logarithms.
    """
    return None if runs < least_runs(1 - alpha, in_pairs) else _reach(runs, in_pairs, alpha) * spread


def runs_to_show(gap: float, spread: float, in_pairs: bool, alpha: float) -> int:
    """Runs a side (or pairs) that detect a difference of `gap` in logarithms four times in five."""
    needed = max(_by_approximation(gap, spread, in_pairs, alpha), least_runs(1 - alpha, in_pairs))
    while needed <= FEW and _reach(needed, in_pairs, alpha) * spread > gap:
        needed += 1
    return needed


@cache
def _reach(runs: int, in_pairs: bool, alpha: float) -> float:
    """Smallest change that is detected four times in five, in standard deviations."""
    if runs > FEW:
        first, z = _normal(alpha)
        return z * math.sqrt((1 if in_pairs else 2) * math.pi / 3 / (runs - _unknown_spread(first, in_pairs)))
    rng = random.Random(0)
    # The interval moves with the change, which is detected when the interval's lower end is above zero.
    intervals = [_of_equal_systems(rng, runs, in_pairs).interval(1 - alpha) for _ in range(DRAWS)]
    return statistics.quantiles([-each.low for each in intervals if each], n=100)[round(100 * POWER) - 1]


def _of_equal_systems(rng: random.Random, runs: int, in_pairs: bool) -> LocationShift:
    """Simulate runs of one system, with a spread of 1."""
    if in_pairs:
        return paired([0.0] * runs, [rng.gauss(0, 1) for _ in range(runs)])
    return unpaired(*([rng.gauss(0, 1) for _ in range(runs)] for _ in range(2)))


def _by_approximation(gap: float, spread: float, in_pairs: bool, alpha: float) -> int:
    """Normal approximation, with the efficiency of ranks against means (3/π) and the cost of an unknown spread."""
    first, z = _normal(alpha)
    means = (1 if in_pairs else 2) * (z * spread / gap) ** 2 * math.pi / 3
    return math.ceil(means + _unknown_spread(first, in_pairs))


def _normal(alpha: float) -> tuple[float, float]:
    """Normal quantile of a two-sided test, and its sum with that of the power."""
    normal = statistics.NormalDist()
    first = normal.inv_cdf(1 - alpha / 2)
    return first, first + normal.inv_cdf(POWER)


def _unknown_spread(first: float, in_pairs: bool) -> float:
    return first**2 / (2 if in_pairs else 4)
