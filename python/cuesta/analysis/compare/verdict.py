"""Gives statistical verdicts on two sets of runs.

A ratio is tested on logarithms, over runs and never over the transactions within them: transactions of one run are
correlated, and a test that assumes independence finds a change in more than half of all pairs of equal systems.
Two hypotheses are tested for each headline figure: that nothing changed, and that the change is at most the practical
margin. Holm's rule keeps the chance of any false claim, over all headline figures, at 5 % for each of the two.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from cuesta.analysis.compare.power import MOST_RUNS, least_change, runs_to_show
from cuesta.analysis.hodges_lehmann import CONFIDENCE, ConfidenceInterval, LocationShift, least_runs, paired, unpaired

ALPHA = 1 - CONFIDENCE
NO_SPREAD = 2
"""With at most this many runs, the spread between runs is unknown."""


class Verdict(StrEnum):
    """The conclusion about one figure."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    BELOW = "changed below margin"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class LogSamples:
    """The logarithms of one figure on both sides, run by run. In pairs, the n-th of each side belong together."""

    base: Sequence[float]
    new: Sequence[float]
    in_pairs: bool = False
    more_is_better: bool = False

    @cached_property
    def shift(self) -> LocationShift:
        return (paired if self.in_pairs else unpaired)(self.base, self.new)

    @cached_property
    def interval(self) -> ConfidenceInterval | None:
        """Exact interval of the shift; None if the runs are too few."""
        return self.shift.interval(CONFIDENCE)

    @property
    def runs(self) -> int:
        """Runs of the smaller side, or pairs."""
        return min(len(self.base), len(self.new))

    @cached_property
    def spread(self) -> float | None:
        """Standard deviation from run to run (pooled over both sides), or from pair to pair; None if too few."""
        if self.in_pairs:
            own = [after - before for before, after in zip(self.base, self.new, strict=True)]
            return statistics.stdev(own) if len(own) > 1 else None
        squares = [sum((value - statistics.fmean(side)) ** 2 for value in side) for side in (self.base, self.new)]
        freedom = len(self.base) + len(self.new) - 2
        return math.sqrt(sum(squares) / freedom) if freedom > 0 else None


@dataclass(frozen=True, slots=True)
class RatioTest:
    """Result of testing one figure's ratio."""

    ratio: float
    """New ÷ base, by Hodges and Lehmann."""
    interval: ConfidenceInterval | None
    """The exact interval of the ratio; None if there are too few runs."""
    p_equal: float
    """p-value of equal systems, adjusted by Holm's rule over the headline figures."""
    p_at_margin: float
    """p-value of systems that differ by just the margin, adjusted by the same rule."""
    verdict: Verdict
    more_runs: int | None
    """Additional runs a side (or pairs) that would likely decide; None if it is decided, or if no number would."""
    least_change: float | None
    """The least change, as 0.03, that these runs detect four times in five with their spread; None if none."""
    runs_for_margin: int | None
    """Runs a side (or pairs) that detect a change of the margin four times in five; None if that cannot be told."""


def judge(samples: Mapping[str, LogSamples], margin: float) -> dict[str, RatioTest]:
    """Test headline figures together. `margin` is the least change that matters, as 0.05."""
    log_margin = math.log1p(margin)
    p_equal = holm({name: sample.shift.p_value() for name, sample in samples.items()})
    p_at_margin = holm({name: _p_at_margin(sample.shift, log_margin) for name, sample in samples.items()})
    tests = {}
    for name, sample in samples.items():
        ratio, interval = estimate(sample)
        verdict = _verdict(sample, log_margin, p_equal[name], p_at_margin[name])
        tests[name] = RatioTest(
            ratio,
            interval,
            p_equal[name],
            p_at_margin[name],
            verdict,
            more_runs=_more_runs(sample, log_margin, len(samples)) if verdict == Verdict.INCONCLUSIVE else None,
            least_change=_least_change(sample, len(samples)),
            runs_for_margin=_runs_for_margin(sample, log_margin, len(samples)),
        )
    return tests


def estimate(sample: LogSamples) -> tuple[float, ConfidenceInterval | None]:
    """The ratio and its exact interval, of any figure."""
    logs = sample.interval
    interval = logs and ConfidenceInterval(math.exp(logs.low), math.exp(logs.high), logs.confidence)
    return math.exp(sample.shift.estimate), interval


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values for the number of tests (S. Holm, 1979)."""
    adjusted, so_far = {}, 0.0
    for number, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        so_far = max(so_far, min(1.0, (len(p_values) - number) * p_value))
        adjusted[name] = so_far
    return adjusted


def _p_at_margin(shift: LocationShift, log_margin: float) -> float:
    """The p-value of a shift of exactly the margin, on the side of the estimate; 1 if the estimate is within it."""
    estimated = shift.estimate
    return shift.p_value(math.copysign(log_margin, estimated)) if abs(estimated) > log_margin else 1.0


def _verdict(sample: LogSamples, log_margin: float, p_equal: float, p_at_margin: float) -> Verdict:
    interval = sample.interval
    if p_at_margin <= ALPHA:
        return Verdict.FASTER if (sample.shift.estimate > 0) == sample.more_is_better else Verdict.SLOWER
    if interval and -log_margin <= interval.low and interval.high <= log_margin:
        return Verdict.BELOW if p_equal <= ALPHA else Verdict.EQUIVALENT
    return Verdict.INCONCLUSIVE


def _more_runs(sample: LogSamples, log_margin: float, tests: int) -> int | None:
    """Estimate how many more runs would decide, if the true ratio is near the estimate."""
    estimated = sample.shift.estimate
    alpha = ALPHA if abs(estimated) < log_margin else ALPHA / tests
    needed = least_runs(1 - alpha, sample.in_pairs)
    if sample.spread and sample.runs > NO_SPREAD:
        gap = abs(abs(estimated) - log_margin)
        if not gap or sample.spread > gap * MOST_RUNS:
            return None
        needed = max(needed, runs_to_show(gap, sample.spread, sample.in_pairs, alpha))
    return max(needed - sample.runs, 1) if needed <= MOST_RUNS else None


def _least_change(sample: LogSamples, tests: int) -> float | None:
    if sample.spread is None:
        return None
    least = least_change(sample.runs, sample.spread, sample.in_pairs, ALPHA / tests)
    return None if least is None else math.expm1(least)


def _runs_for_margin(sample: LogSamples, log_margin: float, tests: int) -> int | None:
    if sample.spread is None or sample.runs <= NO_SPREAD or sample.spread > log_margin * MOST_RUNS:
        return None
    needed = runs_to_show(log_margin, sample.spread, sample.in_pairs, ALPHA / tests)
    return needed if needed <= MOST_RUNS else None
