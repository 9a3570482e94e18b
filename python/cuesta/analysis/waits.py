"""Waits, answered or not, as one distribution: of what was asked, not only of what was answered.

A wait that timed out, or that the end of the measurement cut off, is right-censored: it would have lasted at least as
long as it did. A wait that was lost, with its line for example, is never answered: it stays at risk for ever, as a
competing event does. The share that is answered within a time is Kaplan and Meier's product limit (JASA 53, 1958) over
the histograms' buckets. Where it does not reach a percentile, the longest wait is a lower bound of that percentile.

A measurement cuts waits off at both ends. In steady state as many cross its beginning, which count whole, as its end.
So waits that were cut off are at risk at an age only as far as they are more than those that had that age already when
measuring began: else long waits would count twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import Self

from cuesta._native import Histogram
from cuesta.figures.durations import Distribution
from cuesta.ledger import Tag
from cuesta.ledger.run_folder import OPENING
from cuesta.records.series import WAIT_ENDS

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
"""The percentiles of a distribution of the catalogue, by field."""
ROUNDING = 1e-9
"""A share this little below a percentile's has reached it."""
FAR_OLDER = 3.0
"""A wait is stuck if it is more than this many times as long as the longest that ended, and over a second longer."""


def values_needed(statistic: str) -> int:
    """Of how many values on average one is beyond a percentile: 20 of `p95`."""
    return round(100 / (100 - PERCENTILES[statistic]))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of waits."""

    value: float
    """Seconds, or a number."""
    at_least: bool = False
    """Whether the statistic is not known, and `value` is a lower bound of it."""


@dataclass(frozen=True)
class Waits:
    """Histograms of waits, by how they ended; None where there are none."""

    answered: Histogram | None = None
    timed_out: Histogram | None = None
    lost: Histogram | None = None
    """They will never be answered."""
    unfinished: Histogram | None = None
    """Under way when measuring ended."""
    begun_before: Histogram | None = None
    """The ages at the beginning of the measurement of waits that ended in it."""

    @classmethod
    def summed(cls, found: Iterable[tuple[str, Histogram]]) -> Self:
        """Add histograms up by how their waits ended: keys of `WAIT_ENDS`."""
        ends: dict[str, list[Histogram]] = {}
        for end, histogram in found:
            ends.setdefault(WAIT_ENDS[end], []).append(histogram)
        return cls(**{name: Histogram.sum(histograms) for name, histograms in ends.items()})

    @property
    def count(self) -> int:
        """How many were answered."""
        return count_values(self.answered)

    @property
    def censored(self) -> int:
        """How many were not."""
        return sum(map(count_values, self.unanswered))

    @property
    def total(self) -> int:
        """How many were answered or not."""
        return self.count + self.censored

    @property
    def share_lost(self) -> float:
        """The share of what was asked that is never answered."""
        return count_values(self.lost) / self.total if self.total else 0.0

    @property
    def unanswered(self) -> list[Histogram]:
        return [each for each in (self.timed_out, self.lost, self.unfinished) if each and each.count]

    @property
    def longest(self) -> float | None:
        """The longest wait that ended, with or without an answer."""
        return max(
            (each.max for each in (self.answered, self.timed_out, self.lost) if each and each.count), default=None
        )

    @property
    def known_up_to(self) -> float:
        """The longest wait, also of those under way."""
        return max(each.max for each in (self.answered, *self.unanswered) if each and each.count)

    @cached_property
    def answered_within(self) -> list[tuple[float, float]]:
        """Points (seconds, share of what was asked that is answered within them), with rising seconds."""
        answers = self.answered.buckets() if self.answered else []
        times = [seconds for seconds, _ in answers]
        ends, timed_out, cut_off = (
            count_from(each, times) for each in (self.answered, self.timed_out, self.unfinished)
        )
        entered = count_above(self.begun_before, times)
        lost, left, points = count_values(self.lost), 1.0, []
        for number, (seconds, answered) in enumerate(answers):
            at_risk = lost + ends[number] + timed_out[number] + max(cut_off[number] - entered[number], 0)
            left *= 1 - answered / at_risk
            points.append((seconds, 1 - left))
        return points

    def quantile(self, share: float) -> Estimate | None:
        """The time within which a share of what was asked is answered; None if nothing was asked."""
        if not self.unanswered:
            return Estimate(self.answered.quantile(share)) if self.answered and self.count else None
        within = (seconds for seconds, answered in self.answered_within if answered >= share - ROUNDING)
        found = next(within, None)
        return Estimate(self.known_up_to, at_least=True) if found is None else Estimate(found)

    def mean(self) -> Estimate | None:
        """The mean; where some are not known, at least that up to the longest wait (restricted mean)."""
        if not self.unanswered:
            return Estimate(self.answered.mean) if self.answered and self.count else None
        before, total = 0.0, 0.0
        for seconds, answered in self.answered_within:
            total += seconds * (answered - before)
            before = answered
        left = max(1 - before, 0.0)
        return Estimate(total + left * self.known_up_to, at_least=left > ROUNDING)

    def statistic(self, name: str) -> Estimate | None:
        """Take `count`, `censored`, `min`, `mean`, `max` or any `p99.9`; None of nothing."""
        if name in ("count", "censored"):
            return Estimate(getattr(self, name))
        if name == "mean":
            return self.mean()
        if name == "min":
            return Estimate(self.answered.min) if self.answered and self.count else None
        return self.quantile(1.0 if name == "max" else float(name[1:]) / 100)

    def distribution(self) -> Distribution:
        """Describe them in the catalogue's figures."""
        names = ("mean", *PERCENTILES, "max")
        found = {name: self.statistic(f"p{PERCENTILES[name]:g}" if name in PERCENTILES else name) for name in names}
        known = {name: estimate for name, estimate in found.items() if estimate}
        return Distribution(
            count=self.count,
            censored=self.censored,
            min=self.answered.min if self.answered and self.count else None,
            **{name: estimate.value for name, estimate in known.items()},
            longest=self.longest,
            at_least=[name for name, estimate in known.items() if estimate.at_least],
        )


def add_waits(several: Iterable[Waits]) -> Waits:
    """Those of several runs together."""
    parts = [vars(each) for each in several]
    names = [field.name for field in fields(Waits)]
    known = {name: [part[name] for part in parts if part[name] is not None] for name in names}
    return Waits(**{name: Histogram.sum(found) for name, found in known.items() if found})


def is_stuck(waited: float, longest: float) -> bool:
    """Whether the answer to a wait will not come, by the longest wait that ended; both in seconds."""
    return waited > FAR_OLDER * longest and waited > longest + 1.0


def count_values(histogram: Histogram | None) -> int:
    return histogram.count if histogram else 0


def count_from(histogram: Histogram | None, times: list[float]) -> list[int]:
    """How many values are in the bucket of each time or above it."""
    return [count_values(histogram) - below for below in _count_below(histogram, times, lambda edge, time: edge < time)]


def count_above(histogram: Histogram | None, times: list[float]) -> list[int]:
    """How many values are in a bucket above that of each time."""
    return [
        count_values(histogram) - below for below in _count_below(histogram, times, lambda edge, time: edge <= time)
    ]


def _count_below(
    histogram: Histogram | None, times: list[float], is_below: Callable[[float, float], bool]
) -> Iterator[int]:
    """For each of the rising times, the number of values in buckets below it."""
    buckets = histogram.buckets() if histogram else []
    sums = [0, *accumulate(count for _, count in buckets)]
    passed = 0
    for time in times:
        while passed < len(buckets) and is_below(buckets[passed][0], time):
            passed += 1
        yield sums[passed]


def select_waits(
    measured: Mapping[tuple[int, Tag], Histogram],
    series: str,
    wanted: Callable[[Tag], bool] = lambda _: True,
    agent: int | None = None,
) -> Waits:
    """Add up the waits of a step: a series of certain tags, of one agent or all.

    Openings of lines count from the beginning of the step, so those under way when measuring began count as any other.
    """
    ends = {series + end: end for end in WAIT_ENDS if not (series in OPENING and end == "_begun_before")}
    return Waits.summed(
        (ends[tag.series], histogram)
        for (number, tag), histogram in measured.items()
        if tag.series in ends and agent in (None, number) and wanted(tag)
    )


def strip_end(series: str) -> str:
    """The figure of a series of waits: `response` of `response_timed_out`."""
    return next((series.removesuffix(end) for end in WAIT_ENDS if end and series.endswith(end)), series)
