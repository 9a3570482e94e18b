"""One figure of two versions over pairs of runs: by how much it differs, and what the looks at the pairs claim.

A margin is a share, a difference, or both; a change matters if it is beyond all that the margin has. Shares are tested
on logarithms. Each look may claim that the new version is worse by more than the margin, or that it is not. What one
look has claimed stands.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from cuesta.analysis.compare.looks import Look
from cuesta.analysis.compare.metrics import Metric
from cuesta.analysis.compare.verdict import MOST_RUNS, NO_SPREAD, least_change, runs_to_show
from cuesta.analysis.hodges_lehmann import LocationShift, paired
from cuesta.units import seconds

SUSPICIOUS = 0.2
"""A guard whose estimate is beyond the margin is waited for, if equal versions differ so much with at most this
chance."""


class Claim(StrEnum):
    """What is claimed of a figure of the new version."""

    WORSE = "worse"
    NO_WORSE = "no worse"


@dataclass(frozen=True, slots=True)
class Margin:
    """The least change for the worse that matters: at least one of both is given."""

    share: float | None = None
    """As 0.05: of the base version's figure."""
    difference: float | None = None
    """In the unit of the figure."""

    def __str__(self) -> str:
        of_share = [] if self.share is None else [f"{100 * self.share:g} %"]
        return " and ".join([*of_share, *([] if self.difference is None else [seconds(self.difference)])])


@dataclass(frozen=True, slots=True)
class Estimate:
    """A difference or a ratio of the versions, with its bounds by the newest look; None: too few pairs for bounds."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PairedFigure:
    """A figure of both versions, pair by pair, and the looks at it."""

    metric: Metric
    base: Sequence[float]
    new: Sequence[float]
    margin: Margin
    looks: Sequence[Look]
    level: float
    """The chance of a false claim on one side, over all looks."""
    guards: bool = False
    """Whether it can only make the verdict worse."""
    bounded: tuple[bool, bool] = (False, False)
    """Whether values of the base and of the new version are lower bounds, because too little was answered."""
    missing: str = ""
    """Why nothing can be claimed of it."""

    @property
    def pairs(self) -> int:
        return len(self.base)

    @property
    def confidence(self) -> float:
        """That of the bounds, over all looks."""
        return 1 - 2 * self.level

    @cached_property
    def claim(self) -> Claim | None:
        """What the first look that could tell has told."""
        if self.missing:
            return None
        return next((claim for look in self.looks if (claim := self._claim_at(look))), None)

    @cached_property
    def difference(self) -> Estimate:
        """New less base, in the unit of the figure."""
        return self._estimate(paired(self.base, self.new))

    @cached_property
    def ratio(self) -> Estimate | None:
        """New ÷ base; None if a value is zero."""
        if min(*self.base, *self.new) <= 0:
            return None
        logs = self._estimate(paired(*self._logs(self.pairs)))
        low, high = (None if bound is None else math.exp(bound) for bound in (logs.low, logs.high))
        return Estimate(math.exp(logs.value), low, high)

    @property
    def is_suspicious(self) -> bool:
        """Whether it seems to be worse beyond the margin, although no look could claim it."""
        if self.missing or self.claim or not self.pairs:
            return False
        losses = [(self._losses(self.pairs, as_logs), limit) for as_logs, limit in self._limits()]
        return all(loss.estimate > limit and loss.p_value() <= SUSPICIOUS for loss, limit in losses)

    @property
    def more_pairs(self) -> int | None:
        """Further pairs that would likely decide, if the versions differ as much as it seems; None: over MOST_RUNS."""
        needed = [self._pairs_to_tell(as_logs, limit) for as_logs, limit in self._limits()]
        known = [each for each in needed if each is not None and each <= MOST_RUNS]
        return max(min(known) - self.pairs, 1) if known else None

    @property
    def spread(self) -> float | None:
        """The standard deviation of the pairs' differences of logarithms; None if it is not known."""
        if self.ratio is None or self.pairs <= NO_SPREAD:
            return None
        return self._standard_deviation(as_logs=True)

    @property
    def least_change(self) -> float | None:
        """The least change that pairs of this number and spread find four times in five; as 0.03."""
        if self.spread is None:
            return None
        least = least_change(self.pairs, self.spread, in_pairs=True, alpha=2 * self.level)
        return None if least is None else math.expm1(least)

    def _estimate(self, shift: LocationShift) -> Estimate:
        look = self.looks[-1] if self.looks and self.looks[-1].pairs == self.pairs else None
        bounds = look.bounds(shift) if look else None
        return Estimate(shift.estimate, *bounds) if bounds else Estimate(shift.estimate)

    def _claim_at(self, look: Look) -> Claim | None:
        found = [(look.bounds(self._losses(look.pairs, as_logs)), limit) for as_logs, limit in self._limits()]
        bounds = [(*bound, limit) for bound, limit in found if bound]
        of_base, of_new = self.bounded
        if bounds and all(low > limit for low, _, limit in bounds) and not of_base:
            return Claim.WORSE
        return Claim.NO_WORSE if any(high <= limit for _, high, limit in bounds) and not of_new else None

    def _limits(self) -> list[tuple[bool, float]]:
        """The parts of the margin: whether on logarithms, and the largest change for the worse that is allowed."""
        of_share = [] if self.margin.share is None else [(True, math.log1p(self.margin.share))]
        return [*of_share, *([] if self.margin.difference is None else [(False, self.margin.difference)])]

    def _losses(self, pairs: int, as_logs: bool) -> LocationShift:
        """By how much the new version is worse in the first pairs."""
        base, new = self._logs(pairs) if as_logs else (self.base[:pairs], self.new[:pairs])
        return paired(new, base) if self.metric.more_is_better else paired(base, new)

    def _logs(self, pairs: int) -> tuple[list[float], list[float]]:
        base, new = ([math.log(value) for value in side[:pairs]] for side in (self.base, self.new))
        return base, new

    def _standard_deviation(self, as_logs: bool) -> float:
        """That of the pairs' differences."""
        base, new = self._logs(self.pairs) if as_logs else (self.base, self.new)
        return statistics.stdev(after - before for before, after in zip(base, new, strict=True))

    def _pairs_to_tell(self, as_logs: bool, limit: float) -> int | None:
        if self.pairs <= NO_SPREAD:
            return None
        spread = self._standard_deviation(as_logs)
        gap = abs(self._losses(self.pairs, as_logs).estimate - limit)
        return None if not gap or spread > gap * MOST_RUNS else runs_to_show(gap, spread, True, 2 * self.level)
