"""The run over time, for plots: counts of each stretch, and quantiles of exactly added histograms."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from cuesta._native import Histogram
from cuesta.analysis.waits import Waits
from cuesta.ledger import Interval, Recorded

MOST_POINTS = 300
"""Most stretches of a plot: a longer run has stretches of more than a second."""

SERIES = ("response", "echo", "lateness")
ENDED = ("", "_timed_out", "_lost")
"""Waits that ended. Those that the end of the measurement cut off would make its last second look worse."""
SERIES_OF_END = {f"{series}{end}": (series, end) for series in SERIES for end in ENDED}


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
    sums = pool_waits(recorded, width)
    return [sum_stretch(stretch, sums.get(number, {})) for number, stretch in stretches.items()]


def pool_waits(recorded: Recorded, width: float) -> dict[int, dict[str, Waits]]:
    found = dict[int, dict[str, list[tuple[str, Histogram]]]]()
    for row in recorded.histogram_rows():
        if row.tag.series in SERIES_OF_END:
            series, end = SERIES_OF_END[row.tag.series]
            stretch = found.setdefault(int((row.start + row.length / 2) / width), {})
            stretch.setdefault(series, []).append((end, row.histogram))
    return {
        number: {series: Waits.summed(parts) for series, parts in stretch.items()} for number, stretch in found.items()
    }


def sum_stretch(rows: list[Interval], series: dict[str, Waits]) -> Point:
    begin, end = min(row.start for row in rows), max(row.start + row.length for row in rows)
    last = {row.start: 0 for row in rows}
    for row in rows:
        last[row.start] += row.users
    return Point(
        at=(begin + end) / 2,
        users=last[max(last)],
        per_s=sum(row.transactions for row in rows) / (end - begin),
        errors_per_s=sum(sum(row.errors.values()) for row in rows) / (end - begin),
        p50=quantiles(series, 0.5),
        p99=quantiles(series, 0.99),
    )


def quantiles(series: dict[str, Waits], share: float) -> dict[str, float]:
    """A quantile of each series; where it is not known, the longest wait, which is a lower bound."""
    return {name: found.value for name, waits in series.items() if (found := waits.quantile(share))}


def percentile_curve(waits: Waits) -> Iterator[tuple[float, float]]:
    """A percentile curve: points (n, seconds), where one value in n is above the seconds.

    Twenty points a decade of rarity, up to one value; the last is the largest value itself. The curve ends where
    nothing more is known because waits were not answered.
    """
    step, rarities = 10**0.05, [1.0]
    while rarities[-1] * step < waits.total:
        rarities.append(rarities[-1] * step)
    for rarity in (*rarities, float(waits.total)):
        found = waits.quantile(1.0 if rarity == waits.total else 1 - 1 / rarity)
        if found is None or found.at_least:
            return
        yield rarity, found.value


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


def bin_histogram(histogram: Histogram, bins: int = BINS) -> list[Bin]:
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
