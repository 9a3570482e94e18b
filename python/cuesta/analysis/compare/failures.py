"""Whether one side fails more often than the other. That is judged first: a side that fails more is never faster.

A share of failures may be 0, so it is compared by differences, not by ratios: exactly, over runs, as the ratios are.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from cuesta.analysis.compare.metrics import Metric
from cuesta.analysis.compare.sides import Side
from cuesta.analysis.compare.verdict import ALPHA, MetricComparison, Verdict, adjust_p_values
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


def judge_failures(metrics: Sequence[Metric], base: Side, new: Side, in_pairs: bool) -> list[FailureComparison]:
    """Test shares of failures together, each run by run on both sides."""
    shift = paired if in_pairs else unpaired
    before, after = (
        {metric: [run.failures.get(metric.name, 0.0) for run in side.runs] for metric in metrics}
        for side in (base, new)
    )
    p_equal = adjust_p_values({metric.name: shift(before[metric], after[metric]).p_value() for metric in metrics})
    return [FailureComparison(metric, before[metric], after[metric], p_equal[metric.name]) for metric in metrics]


def withhold_verdict(figure: MetricComparison, failures: Sequence[FailureComparison]) -> MetricComparison:
    """The figure; its verdict is withheld if it calls the side that fails more often faster."""
    test = figure.test
    new_fails_more = any(share.difference >= MATTERS for share in failures)
    base_fails_more = any(share.difference <= -MATTERS for share in failures)
    if test and (
        (test.verdict == Verdict.FASTER and new_fails_more) or (test.verdict == Verdict.SLOWER and base_fails_more)
    ):
        return replace(figure, test=replace(test, verdict=Verdict.NOT_JUDGED))
    return figure
