"""Compares one figure on both sides: the ratio, its exact interval, the statistical verdict, and the test's power.

A ratio is tested on logarithms, over runs and never over the transactions within them: transactions of one run are
correlated, and a test that assumes independence finds a change in more than half of all pairs of equal systems.
Two hypotheses are tested for each headline figure: that nothing changed, and that the change is at most the practical
margin. Holm's rule keeps the chance of any false claim, over all headline figures, at 5 % for each of the two.

The power is the smallest change that a number of runs detects, and the number that detects a given change. Up to FEW
runs it is simulated, because the normal approximation is too optimistic for so few ranks; for more it is approximated.
"""

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from cuesta.analysis.compare.metrics import Metric
from cuesta.analysis.hodges_lehmann import CONFIDENCE, ConfidenceInterval, LocationShift, least_runs, paired, unpaired

ALPHA = 1 - CONFIDENCE
NO_SPREAD = 2
"""With at most this many runs, the spread between runs is unknown."""
POWER = 0.8
"""Chance that the proposed number of runs detects the change."""
MOST_RUNS = 500
"""The largest number of runs a side that is proposed."""
FEW = 25
"""The largest number of runs a side (or pairs) that is simulated."""
DRAWS = 1000
"""Number of simulated comparisons, which gives the power within about 1 %."""


class Verdict(StrEnum):
    """The conclusion about one figure."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    BELOW = "changed below margin"
    INCONCLUSIVE = "inconclusive"
    NOT_JUDGED = "not judged"
    """Withheld: it would call the side that fails more often faster."""


@dataclass(frozen=True, slots=True)
class RatioTest:
    """The test of one ratio."""

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
    """Runs a side (or pairs) that detect a change of the margin four times in five; None if it is unknown."""


@dataclass(frozen=True, slots=True)
class MetricComparison:
    metric: Metric
    base: Sequence[float]
    """Run by run, as measured. In pairs, the n-th of each side belong together."""
    new: Sequence[float]
    in_pairs: bool
    compensation: float | None
    """The factor by which the new side is multiplied in the ratio."""
    missing: str | None
    """Why there is no ratio; None if there is one."""
    bounded: tuple[bool, bool] = (False, False)
    """Whether values of the base and of the new side are lower bounds: too little was answered to know them."""
    shift: LocationShift | None = None
    """The logarithm of new ÷ base, compensated; None if `missing`, as all below."""
    spread: float | None = None
    """Standard deviation of the logarithms from run to run, or from pair to pair; None if the runs are too few."""
    ratio: float | None = None
    """New ÷ base, by Hodges and Lehmann."""
    interval: ConfidenceInterval | None = None
    """The exact interval of the ratio; None if there are too few runs."""
    test: RatioTest | None = None
    """None if the figure is only shown."""

    @property
    def runs(self) -> int:
        """Runs of the smaller side, or pairs."""
        return min(len(self.base), len(self.new))


def estimate_ratio(figure: MetricComparison) -> MetricComparison:
    if figure.missing is not None:
        return figure
    factor = math.log(figure.compensation or 1.0)
    base, new = [math.log(value) for value in figure.base], [math.log(value) + factor for value in figure.new]
    shift = (paired if figure.in_pairs else unpaired)(base, new)
    logs = shift.interval(CONFIDENCE)
    return replace(
        figure,
        shift=shift,
        spread=_estimate_spread(base, new, figure.in_pairs),
        ratio=math.exp(shift.estimate),
        interval=logs and ConfidenceInterval(math.exp(logs.low), math.exp(logs.high), logs.confidence),
    )


def judge_figures(figures: Sequence[MetricComparison], margin: float) -> list[MetricComparison]:
    """Estimate headline figures and test them together. `margin` is the least change that matters, as 0.05."""
    figures, log_margin = list(map(estimate_ratio, figures)), math.log1p(margin)
    p_equal = adjust_p_values({each.metric.name: each.shift.p_value() for each in figures if each.shift})
    p_at_margin = adjust_p_values(
        {each.metric.name: _p_at_margin(each.shift, log_margin) for each in figures if each.shift}
    )
    tests = dict[str, RatioTest]()
    for each in figures:
        if shift := each.shift:
            equal, at_margin = p_equal[each.metric.name], p_at_margin[each.metric.name]
            verdict = _decide_verdict(each, shift, log_margin, equal, at_margin)
            more = _count_more_runs(each, shift, log_margin, len(p_equal)) if verdict == Verdict.INCONCLUSIVE else None
            alpha, for_margin = ALPHA / len(p_equal), _count_runs_for_margin(each, log_margin, len(p_equal))
            log = None if each.spread is None else least_change(each.runs, each.spread, each.in_pairs, alpha)
            least = None if log is None else math.expm1(log)
            tests[each.metric.name] = RatioTest(equal, at_margin, verdict, more, least, for_margin)
    return [replace(each, test=tests.get(each.metric.name)) for each in figures]


def adjust_p_values(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values for the number of tests (S. Holm, 1979)."""
    adjusted, so_far = {}, 0.0
    for number, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        so_far = max(so_far, min(1.0, (len(p_values) - number) * p_value))
        adjusted[name] = so_far
    return adjusted


def _estimate_spread(base: Sequence[float], new: Sequence[float], in_pairs: bool) -> float | None:
    """The standard deviation within the sides (pooled over both), or of the pairs' differences."""
    if in_pairs:
        own = [after - before for before, after in zip(base, new, strict=True)]
        return statistics.stdev(own) if len(own) > 1 else None
    squares = [sum((value - statistics.fmean(side)) ** 2 for value in side) for side in (base, new)]
    freedom = len(base) + len(new) - 2
    return math.sqrt(sum(squares) / freedom) if freedom > 0 else None


def _p_at_margin(shift: LocationShift, log_margin: float) -> float:
    """The p-value of a shift of the margin in the direction of the estimate; 1 within the margin."""
    estimated = shift.estimate
    return shift.p_value(math.copysign(log_margin, estimated)) if abs(estimated) > log_margin else 1.0


def _decide_verdict(
    figure: MetricComparison, shift: LocationShift, log_margin: float, p_equal: float, p_at_margin: float
) -> Verdict:
    interval, (of_base, of_new) = shift.interval(CONFIDENCE), figure.bounded
    if p_at_margin <= ALPHA and not (of_base if shift.estimate > 0 else of_new):
        return Verdict.FASTER if (shift.estimate > 0) == figure.metric.more_is_better else Verdict.SLOWER
    if of_base or of_new:
        return Verdict.INCONCLUSIVE
    if interval and -log_margin <= interval.low and interval.high <= log_margin:
        return Verdict.BELOW if p_equal <= ALPHA else Verdict.EQUIVALENT
    return Verdict.INCONCLUSIVE


def _count_more_runs(figure: MetricComparison, shift: LocationShift, log_margin: float, tests: int) -> int | None:
    """Further runs that would decide if the true ratio is the estimate."""
    estimated = shift.estimate
    alpha = ALPHA if abs(estimated) < log_margin else ALPHA / tests
    needed = least_runs(1 - alpha, figure.in_pairs)
    if figure.spread and figure.runs > NO_SPREAD:
        gap = abs(abs(estimated) - log_margin)
        if not gap or figure.spread > gap * MOST_RUNS:
            return None
        needed = max(needed, runs_to_show(gap, figure.spread, figure.in_pairs, alpha))
    return max(needed - figure.runs, 1) if needed <= MOST_RUNS else None


def _count_runs_for_margin(figure: MetricComparison, log_margin: float, tests: int) -> int | None:
    if figure.spread is None or figure.runs <= NO_SPREAD or figure.spread > log_margin * MOST_RUNS:
        return None
    needed = runs_to_show(log_margin, figure.spread, figure.in_pairs, ALPHA / tests)
    return needed if needed <= MOST_RUNS else None


def least_change(runs: int, spread: float, in_pairs: bool, alpha: float) -> float | None:
    """Smallest change that `runs` runs a side (or pairs) detect four times in five; None if they detect none.

    The change, and `spread`, the standard deviation between runs or pairs, are in logarithms.
    """
    return None if runs < least_runs(1 - alpha, in_pairs) else _find_detectable(runs, in_pairs, alpha) * spread


def runs_to_show(gap: float, spread: float, in_pairs: bool, alpha: float) -> int:
    """Runs a side (or pairs) for a power of 80 % at a difference of `gap`, in logarithms."""
    needed = max(_approximate_runs(gap, spread, in_pairs, alpha), least_runs(1 - alpha, in_pairs))
    while needed <= FEW and _find_detectable(needed, in_pairs, alpha) * spread > gap:
        needed += 1
    return needed


@cache
def _find_detectable(runs: int, in_pairs: bool, alpha: float) -> float:
    """The least change with a power of 80 %, in standard deviations."""
    if runs > FEW:
        first, z = _find_normal_quantiles(alpha)
        return z * math.sqrt((1 if in_pairs else 2) * math.pi / 3 / (runs - _count_for_unknown_spread(first, in_pairs)))
    rng = random.Random(0)
    # The interval moves with the change, which is detected when the interval's lower end is above zero.
    intervals = [_simulate_equal_systems(rng, runs, in_pairs).interval(1 - alpha) for _ in range(DRAWS)]
    return statistics.quantiles([-each.low for each in intervals if each], n=100)[round(100 * POWER) - 1]


def _simulate_equal_systems(rng: random.Random, runs: int, in_pairs: bool) -> LocationShift:
    """Simulated runs of one system, with standard deviation 1."""
    if in_pairs:
        return paired([0.0] * runs, [rng.gauss(0, 1) for _ in range(runs)])
    return unpaired(*([rng.gauss(0, 1) for _ in range(runs)] for _ in range(2)))


def _approximate_runs(gap: float, spread: float, in_pairs: bool, alpha: float) -> int:
    """Normal approximation, with the efficiency of ranks against means (3/π) and the cost of an unknown spread."""
    first, z = _find_normal_quantiles(alpha)
    means = (1 if in_pairs else 2) * (z * spread / gap) ** 2 * math.pi / 3
    return math.ceil(means + _count_for_unknown_spread(first, in_pairs))


def _find_normal_quantiles(alpha: float) -> tuple[float, float]:
    """Normal quantile of a two-sided test, and its sum with that of the power."""
    normal = statistics.NormalDist()
    first = normal.inv_cdf(1 - alpha / 2)
    return first, first + normal.inv_cdf(POWER)


def _count_for_unknown_spread(first: float, in_pairs: bool) -> float:
    return first**2 / (2 if in_pairs else 4)
