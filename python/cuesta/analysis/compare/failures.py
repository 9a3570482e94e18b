"""Whether one side fails more often than the other. That is judged first: a side that fails more is never faster.

A share of failures may be 0, so it is compared by differences, not by ratios: exactly, over runs, as the ratios are.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from cuesta.analysis.compare.metrics import Metric
from cuesta.analysis.compare.verdict import ALPHA, Verdict, holm
from cuesta.analysis.hodges_lehmann import paired, unpaired

MATTERS = 0.001
"""The least difference of shares that matters: one failure in a thousand."""


class Failing(StrEnum):
    """The conclusion about the failures of the new side."""

    MORE = "more failures"
    FEWER = "fewer failures"
    UNKNOWN = "inconclusive"
    ALIKE = "as many failures"


@dataclass(frozen=True, slots=True)
class FailureComparison:
    """A share of failures on both sides."""

    metric: Metric
    base: Sequence[float]
    """Run by run. In pairs, the n-th of each side belong together."""
    new: Sequence[float]
    p_equal: float
    """p-value of sides that fail alike, adjusted by Holm's rule over the shares of failures."""

    @property
    def difference(self) -> float:
        """New less base, of the means."""
        return statistics.fmean(self.new) - statistics.fmean(self.base)

    @property
    def verdict(self) -> Failing:
        if abs(self.difference) < MATTERS:
            return Failing.ALIKE
        if self.p_equal > ALPHA:
            return Failing.UNKNOWN
        return Failing.MORE if self.difference > 0 else Failing.FEWER


def judge_failures(
    figures: Sequence[tuple[Metric, Sequence[float], Sequence[float]]], in_pairs: bool
) -> list[FailureComparison]:
    """Test shares of failures, each run by run on both sides, together."""
    shift = paired if in_pairs else unpaired
    p_equal = holm({metric.name: shift(base, new).p_value() for metric, base, new in figures})
    return [FailureComparison(metric, base, new, p_equal[metric.name]) for metric, base, new in figures]


def withhold(verdict: Verdict, failures: Sequence[FailureComparison]) -> Verdict:
    """The verdict on a figure given the failures: a side that fails more is never faster."""
    of_new = any(each.difference >= MATTERS for each in failures)
    of_base = any(each.difference <= -MATTERS for each in failures)
    if (verdict == Verdict.FASTER and of_new) or (verdict == Verdict.SLOWER and of_base):
        return Verdict.NOT_JUDGED
    return verdict
