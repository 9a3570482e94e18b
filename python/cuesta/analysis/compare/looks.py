"""When pairs that are still being made are looked at, and how sure each look must be.

Whoever looks after every pair and stops at the first claim is wrong far too often. So the looks are planned before the
first pair, and they share the chance of a false claim: up to the look after n of at most N pairs, n ÷ N of it. Their
chances add up to at most the whole, however the looks depend on each other (Bonferroni), and each is exact (Wilcoxon).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from cuesta.analysis.hodges_lehmann import LocationShift, signed_rank_sums

RATIO = 1.4
"""The ratio of the pairs of one look to those of the look before. Simulated: looks further apart save fewer pairs, and
looks closer together leave less for the last one (docs/compare.md)."""
EARLY = 7
"""Pairs of the first of several looks, if it would else be two pairs later or more. Simulated for 12 pairs: the usual
comparison is two pairs shorter, and what this look does not spend finds more at the last (docs/compare.md)."""
ROUNDING = 1e-12
"""What a sum of floating-point numbers may exceed the chance by that it stands for."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look at the pairs made so far."""

    pairs: int
    rank: int
    """The bounds are the Walsh averages of this rank, from either end; 0 if there are too few pairs for any bound."""

    def bounds(self, shift: LocationShift) -> tuple[float, float] | None:
        """The lower and the upper bound of the shift; None if there are too few pairs."""
        return (shift.differences[self.rank - 1], shift.differences[-self.rank]) if self.rank else None


def fewest_pairs(level: float) -> int:
    """The number of pairs with which a single look can claim something."""
    return math.ceil(-math.log2(level))


def plan_pairs(most: int, level: float) -> list[int]:
    """After which pairs to look, if at most `most` are made; `level` is the chance of a false claim on one side."""
    planned, pairs = list[int](), float(most)
    while (number := round(pairs)) > 0 and can_claim(number, most, level):
        planned.append(number)
        pairs = min(pairs / RATIO, number - 1)
    if len(planned) > 1 and planned[-1] >= EARLY + 2 and can_claim(EARLY, most, level):
        planned[-1] = EARLY
    return planned[::-1]


def can_claim(pairs: int, most: int, level: float) -> bool:
    """Whether a look after `pairs` of at most `most` pairs can claim something with its share of `level`."""
    return 0.5**pairs <= level * pairs / most + ROUNDING


def plan_looks(planned: Sequence[int], level: float, ended_at: int | None = None) -> Iterator[Look]:
    """Looks after `planned` pairs. If no more than `ended_at` pairs are made, the look after these has all that is left
    of `level`: what ended them was not what they showed.
    """
    spent = 0.0
    for pairs in planned if ended_at is None else [*(each for each in planned if each < ended_at), ended_at]:
        share = level if pairs == ended_at else level * pairs / planned[-1]
        rank, chance = find_rank(pairs, share - spent)
        spent += chance
        yield Look(pairs, rank)


def find_rank(pairs: int, allowed: float) -> tuple[int, float]:
    """The largest rank whose bound is beyond the true shift with at most the chance `allowed`; and that chance."""
    ways = signed_rank_sums(pairs)
    chances = [so_far / sum(ways) for so_far in accumulate(ways[: len(ways) // 2])]
    rank = sum(chance <= allowed + ROUNDING for chance in chances)
    return rank, chances[rank - 1] if rank else 0.0
