"""What two handfuls of runs allow to say about a ratio: numbers in, verdicts out.

A ratio is judged on logarithms, over runs and never over the transactions within them: those resemble one another, and
a test that takes them for independent finds a change in more than half of all pairs of equal systems. Two claims are
tested for each headline figure: that it changed at all, and that it changed by more than the practical margin. Holm's
rule keeps the chance of any false claim of a kind, over all headline figures, at 5 %.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cuesta.analysis.compare.hodges_lehmann import Interval, LocationShift, least_runs, paired, unpaired
from cuesta.analysis.compare.power import MOST_RUNS, least_change, runs_to_show

CONFIDENCE = 0.95
ALPHA = 1 - CONFIDENCE
OF_ANY_SPREAD = 2
"""So many runs do not tell how far runs differ."""


class Verdict(StrEnum):
    """A verdict."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    BELOW = "changed below margin"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class LogRatioSample:
    """The logarithms of one figure, run by run. In pairs, the n-th of each side belong together."""

    base: Sequence[float]
    new: Sequence[float]
    in_pairs: bool = False
    more_is_better: bool = False

    @property
    def shift(self) -> LocationShift:
        """Give by how much the new side lies above the base."""
        return (paired if self.in_pairs else unpaired)(self.base, self.new)

    @property
    def runs(self) -> int:
        """Count the runs of the smaller side, or the pairs."""
        return min(len(self.base), len(self.new))

    @property
    def spread(self) -> float | None:
        """Give the standard deviation from run to run, or from pair to pair; None of too few."""
        if self.in_pairs:
            own = [after - before for before, after in zip(self.base, self.new, strict=True)]
            return statistics.stdev(own) if len(own) > 1 else None
        squares = [sum((value - statistics.fmean(side)) ** 2 for value in side) for side in (self.base, self.new)]
        freedom = len(self.base) + len(self.new) - 2
        return math.sqrt(sum(squares) / freedom) if freedom > 0 else None


@dataclass(frozen=True, slots=True)
class MetricVerdict:
    """What can be said of one figure."""

    ratio: float
    """New over base, by Hodges and Lehmann."""
    interval: Interval | None
    """Of the ratio; None of fewer runs than an exact interval needs."""
    changed: float
    """Chance of so large a change in equal systems, by Holm's rule over the headline figures."""
    beyond: float
    """Likewise, in systems that differ by just the margin."""
    word: Verdict
    more: int | None
    """How many more runs a side (or pairs) would likely decide; None if it is decided, or if no number would."""
    finds: float | None
    """The least change, as 0.03, that these runs find four times in five, by the spread that they had; None if none."""
    for_margin: int | None
    """How many runs a side (or pairs) find a change of the margin so; None of an unknown spread, or if none do."""


def judge(samples: Mapping[str, LogRatioSample], margin: float) -> dict[str, MetricVerdict]:
    """Judge headline figures together. `margin` is the least change that matters, as 0.05."""
    edge = math.log1p(margin)
    shifts = {name: sample.shift for name, sample in samples.items()}
    changed = holm({name: shift.p_value() for name, shift in shifts.items()})
    beyond = holm({name: _beyond(shift, edge) for name, shift in shifts.items()})
    judged = {}
    for name, sample in samples.items():
        ratio, interval = estimate(sample)
        word = _word(sample, edge, changed[name], beyond[name])
        more = _more(sample, edge, len(samples)) if word == Verdict.INCONCLUSIVE else None
        power = _finds(sample, len(samples)), _for_margin(sample, edge, len(samples))
        judged[name] = MetricVerdict(ratio, interval, changed[name], beyond[name], word, more, *power)
    return judged


def estimate(sample: LogRatioSample) -> tuple[float, Interval | None]:
    """Give a ratio and its exact interval, of any figure."""
    shift = sample.shift
    found = shift.interval(CONFIDENCE)
    ratios = found and Interval(math.exp(found.low), math.exp(found.high), found.confidence)
    return math.exp(shift.estimate), ratios


LEAST_RUNS = least_runs(CONFIDENCE, in_pairs=False)
"""Runs of each side that an exact interval needs."""


def ratio_interval(base: Sequence[float], new: Sequence[float]) -> tuple[float, float] | None:
    """Give the exact 95 % interval of new ÷ base over runs; None for fewer than LEAST_RUNS each or values of 0."""
    if min(len(base), len(new)) < LEAST_RUNS or min(*base, *new) <= 0:
        return None
    _, interval = estimate(LogRatioSample([math.log(each) for each in base], [math.log(each) for each in new]))
    return (interval.low, interval.high) if interval else None


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust for how many are tested (S. Holm, 1979): each holds at 5 % if its adjusted chance is at most that."""
    adjusted, so_far = {}, 0.0
    for number, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        so_far = max(so_far, min(1.0, (len(p_values) - number) * p_value))
        adjusted[name] = so_far
    return adjusted


def _beyond(shift: LocationShift, edge: float) -> float:
    """Test the nearest of all changes that do not matter."""
    estimated = shift.estimate
    return shift.p_value(math.copysign(edge, estimated)) if abs(estimated) > edge else 1.0


def _word(sample: LogRatioSample, edge: float, changed: float, beyond: float) -> Verdict:
    shift = sample.shift
    interval = shift.interval(CONFIDENCE)
    if beyond <= ALPHA:
        return Verdict.FASTER if (shift.estimate > 0) == sample.more_is_better else Verdict.SLOWER
    if interval and -edge <= interval.low and interval.high <= edge:
        return Verdict.BELOW if changed <= ALPHA else Verdict.EQUIVALENT
    return Verdict.INCONCLUSIVE


def _more(sample: LogRatioSample, edge: float, tests: int) -> int | None:
    """Say how many more runs would decide, if what was found is about the truth."""
    estimated = sample.shift.estimate
    within = abs(estimated) < edge
    alpha = ALPHA if within else ALPHA / tests
    needed = least_runs(1 - alpha, sample.in_pairs)
    if sample.spread and sample.runs > OF_ANY_SPREAD:
        gap = abs(abs(estimated) - edge)
        if not gap or sample.spread > gap * MOST_RUNS:
            return None
        needed = max(needed, runs_to_show(gap, sample.spread, sample.in_pairs, alpha))
    return max(needed - sample.runs, 1) if needed <= MOST_RUNS else None


def _finds(sample: LogRatioSample, tests: int) -> float | None:
    """Say how large a change is found four times in five, even if it is of this figure alone."""
    if sample.spread is None:
        return None
    least = least_change(sample.runs, sample.spread, sample.in_pairs, ALPHA / tests)
    return None if least is None else math.expm1(least)


def _for_margin(sample: LogRatioSample, edge: float, tests: int) -> int | None:
    if sample.spread is None or sample.runs <= OF_ANY_SPREAD or sample.spread > edge * MOST_RUNS:
        return None
    needed = runs_to_show(edge, sample.spread, sample.in_pairs, ALPHA / tests)
    return needed if needed <= MOST_RUNS else None
