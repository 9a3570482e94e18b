"""Location shift between two sets of runs: the Hodges–Lehmann estimate, with an exact interval and test.

Both designs work alike (Lehmann, Nonparametrics, 1975, chapters 2 and 4). Sort the differences of every new run and
every base run, or the Walsh averages of the pairs' differences. Their median is the estimate, and the k-th from either
end bound the interval. Its confidence is counted, not approximated: the number of differences above the true shift is
Mann and Whitney's U, or Wilcoxon's signed-rank sum. Ties make interval and test conservative.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, combinations_with_replacement, count

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    low: float
    high: float
    confidence: float
    """By the exact distribution; at least the requested confidence."""


@dataclass(frozen=True, slots=True)
class LocationShift:
    """How far the new values lie above the base values."""

    differences: Sequence[float]
    """Sorted."""
    arrangements: Sequence[int]
    """Null distribution: in how many of the equally likely orders 0, 1, 2, … differences lie above the true shift."""

    @property
    def estimate(self) -> float:
        return statistics.median(self.differences)

    def interval(self, confidence: float = CONFIDENCE) -> ConfidenceInterval | None:
        """The exact interval; None if there are too few runs for this confidence."""
        total, ways = sum(self.arrangements), accumulate(self.arrangements[: len(self.differences) // 2])
        outside = [2 * so_far / total for so_far in ways]
        allowed = sum(chance <= 1 - confidence for chance in outside)
        if not allowed:
            return None
        return ConfidenceInterval(self.differences[allowed - 1], self.differences[-allowed], 1 - outside[allowed - 1])

    def p_value(self, shift: float = 0.0) -> float:
        """Two-sided exact p-value of the hypothesis that the true shift is `shift`."""
        many = len(self.differences)
        above = sum(difference > shift for difference in self.differences)
        below = sum(difference < shift for difference in self.differences)
        ways = sum(self.arrangements[: many - max(above, below) + 1])
        return min(1.0, 2 * ways / sum(self.arrangements))


def unpaired(base: Sequence[float], new: Sequence[float]) -> LocationShift:
    """Compare every new run with every base run."""
    differences = sorted(after - before for before in base for after in new)
    return LocationShift(differences, rank_sums(len(base), len(new)))


def paired(base: Sequence[float], new: Sequence[float]) -> LocationShift:
    """Compare runs made in pairs, one of each side."""
    own = [after - before for before, after in zip(base, new, strict=True)]
    walsh = sorted((one + other) / 2 for one, other in combinations_with_replacement(own, 2))
    return LocationShift(walsh, signed_rank_sums(len(own)))


@cache
def rank_sums(base: int, new: int) -> Sequence[int]:
    """Count the orders of two samples by Mann and Whitney's U: the coefficients of a Gaussian binomial."""
    counts = [1] + [0] * (base * new)
    for i in range(1, base + 1):
        counts = [ways - (counts[u - new - i] if u >= new + i else 0) for u, ways in enumerate(counts)]
        for u in range(i, len(counts)):
            counts[u] += counts[u - i]
    return tuple(counts)


@cache
def signed_rank_sums(pairs: int) -> Sequence[int]:
    """Count the signs of ranked differences by Wilcoxon's sum: the coefficients of the product of all 1 + q^i."""
    counts = [1] + [0] * (pairs * (pairs + 1) // 2)
    for i in range(1, pairs + 1):
        counts = [ways + (counts[t - i] if t >= i else 0) for t, ways in enumerate(counts)]
    return tuple(counts)


def least_runs(confidence: float, in_pairs: bool) -> int:
    """Runs a side (or pairs) that an exact interval of this confidence needs."""
    ways = (2**n if in_pairs else math.comb(2 * n, n) for n in count(1))
    return next(n for n, arrangements in enumerate(ways, 1) if 2 / arrangements <= 1 - confidence)


RUNS_FOR_INTERVAL = least_runs(CONFIDENCE, in_pairs=False)
"""Runs of each side that an exact interval needs."""


def ratio_interval(base: Sequence[float], new: Sequence[float]) -> tuple[float, float] | None:
    """The exact 95 % interval of new ÷ base; None for fewer than RUNS_FOR_INTERVAL runs of each, or values of 0."""
    if min(len(base), len(new)) < RUNS_FOR_INTERVAL or min(*base, *new) <= 0:
        return None
    interval = unpaired([math.log(each) for each in base], [math.log(each) for each in new]).interval()
    return (math.exp(interval.low), math.exp(interval.high)) if interval else None
