"""The run over time, for plots: counts of each stretch, and quantiles of exactly added histograms."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from cuesta._native import Histogram
from cuesta.ledger import Interval, Recorded

MOST_POINTS = 300
"""Most stretches of a plot: a longer run has stretches of more than a second."""

SERIES = ("response", "echo", "lateness")


@dataclass(frozen=True, slots=True)
class Point:
    """A stretch of the run."""

    at: float
    """Its middle, in seconds from the start of the run."""
    users: int
    """Users with a line."""
    per_s: float
    """Transactions a second."""
    errors_per_s: float
    """Failures of the host and of lines a second."""
    p50: dict[str, float]
    """Seconds by series, without series that have no values in this stretch."""
    p99: dict[str, float]


def over_time(recorded: Recorded) -> list[Point]:
    """The stretches of a run with its settling, without its draining, in which no user types.

    Rows of no length are left out: a run that was stopped before it began has such rows.
    """
    rows = [row for agent in recorded.agents for row in agent.intervals if row.phase != "drain" and row.length]
    end = max((row.start + row.length for row in rows), default=0.0)
    width = max(1.0, end / MOST_POINTS)
    stretches = dict[int, list[Interval]]()
    for row in sorted(rows, key=lambda row: row.start):
        stretches.setdefault(int((row.start + row.length / 2) / width), []).append(row)
    sums = add_up(recorded, width)
    return [point(stretch, sums.get(number, {})) for number, stretch in stretches.items()]


def add_up(recorded: Recorded, width: float) -> dict[int, dict[str, Histogram]]:
    """Add histograms up by stretch and series."""
    sums = dict[int, dict[str, Histogram]]()
    for row in recorded.histogram_rows():
        if row.tag.series in SERIES:
            series = sums.setdefault(int((row.start + row.length / 2) / width), {})
            if row.tag.series in series:
                series[row.tag.series].merge(row.histogram)
            else:
                series[row.tag.series] = row.histogram
    return sums


def point(rows: list[Interval], series: dict[str, Histogram]) -> Point:
    """Sum up a stretch."""
    begin, end = min(row.start for row in rows), max(row.start + row.length for row in rows)
    last = {row.start: 0 for row in rows}
    for row in rows:
        last[row.start] += row.users
    return Point(
        at=(begin + end) / 2,
        users=last[max(last)],
        per_s=sum(row.transactions for row in rows) / (end - begin),
        errors_per_s=sum(sum(row.errors.values()) for row in rows) / (end - begin),
        p50={name: histogram.quantile(0.5) for name, histogram in series.items()},
        p99={name: histogram.quantile(0.99) for name, histogram in series.items()},
    )


def curve(histogram: Histogram) -> Iterator[tuple[float, float]]:
    """A percentile curve: points (n, seconds), where one value in n is above the seconds.

    Twenty points a decade of rarity, up to one value; the last is the largest value itself.
    """
    step, rarity = 10**0.05, 1.0
    while rarity < histogram.count:
        yield rarity, histogram.quantile(1 - 1 / rarity)
        rarity *= step
    yield float(histogram.count), histogram.max


BINS, ROWS = 40, 30
"""Bars of a histogram, and rows of a plot of durations over time, from the least value to the greatest."""
LEAST_RATIO = 1.02
"""Least ratio between the edges of a bin, so that it can be seen."""
MOST_CELLS = 120
"""Columns of a plot of durations over time."""


@dataclass(frozen=True, slots=True)
class Bin:
    """How many durations lie between two, in seconds."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class TimedBin:
    """How many durations lie between two, within a stretch of the run; all in seconds."""

    begin: float
    end: float
    low: float
    high: float
    count: int


def spread(histogram: Histogram, bins: int = BINS) -> list[Bin]:
    """Put a histogram's buckets together into bins of equal width on a logarithmic scale; empty ones are left out."""
    least = max(histogram.min, 1e-9)
    return list(_binned(histogram, least, _ratio(least, histogram.max, bins)))


def density_over_time(recorded: Recorded, series: str) -> list[TimedBin]:
    """Count the durations of a series by size and by when they ended, in at most `MOST_CELLS` stretches."""
    rows = [row for row in recorded.histogram_rows() if row.tag.series == series and row.histogram.count]
    width = max(1.0, max((row.start + row.length for row in rows), default=0.0) / MOST_CELLS)
    sums: dict[int, Histogram] = {}
    for row in rows:
        number = int((row.start + row.length / 2) / width)
        if number in sums:
            sums[number].merge(row.histogram)
        else:
            sums[number] = row.histogram
    least = max(min((each.min for each in sums.values()), default=1.0), 1e-9)
    ratio = _ratio(least, max((each.max for each in sums.values()), default=1.0), ROWS)
    return [
        TimedBin(number * width, (number + 1) * width, each.low, each.high, each.count)
        for number in sorted(sums)
        for each in _binned(sums[number], least, ratio)
    ]


def _ratio(least: float, most: float, bins: int) -> float:
    """Choose the ratio between the edges of bins, so that they reach from the least value to the greatest."""
    return max(math.exp(math.log(most / least) / bins), LEAST_RATIO) if most > least else LEAST_RATIO


def _binned(histogram: Histogram, least: float, ratio: float) -> Iterator[Bin]:
    counts: dict[int, int] = {}
    for edge, count in histogram.buckets():
        number = math.floor(math.log(max(edge, least) / least, ratio) + 1e-9)
        counts[number] = counts.get(number, 0) + count
    yield from (Bin(least * ratio**number, least * ratio ** (number + 1), counts[number]) for number in sorted(counts))
