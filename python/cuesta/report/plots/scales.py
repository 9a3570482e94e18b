"""The axes that plots share: durations, linear or logarithmic, and percentiles by how rare a value is."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from cuesta.units import seconds

DECADE = 12.0
"""Values that spread further than this many times are drawn on a logarithmic scale."""

RARITIES = {1.0: "0", 2.0: "50 %", 10.0: "90 %", 100.0: "99 %"} | {
    10.0**nines: f"99.{'9' * (nines - 2)} %" for nines in range(3, 10)
}
"""Percentiles that are marked, by how many times rarer than any value what lies beyond is."""


def durations(axes: Axes, values: Sequence[float]) -> None:
    """Scale the vertical axis for durations in seconds: logarithmic if they spread."""
    positive = [value for value in values if value > 0]
    if positive and max(positive) > DECADE * min(positive):
        logarithmic(axes)
    else:
        axes.set_ylim(0, 1.08 * max(positive, default=1.0))
        in_seconds(axes)


def logarithmic(axes: Axes) -> None:
    """Scale durations logarithmically, over a decade at least, with ticks at 1, 2 and 5 where few decades are seen."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < 10 * low:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(10), middle * math.sqrt(10)
        axes.set_ylim(low, high)
    digits = (1, 2, 5) if high < 1000 * low else (1,)
    ticks = [digit * 10.0**power for power in range(-9, 6) for digit in digits]
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axes.yaxis.set_minor_locator(NullLocator())
    in_seconds(axes)


def in_seconds(axes: Axes) -> None:
    """Write the values of the vertical axis as durations."""
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds(value) if value else "0"))


def by_rarity(axes: Axes, most: int) -> None:
    """Scale the horizontal axis by how rare a value is, and mark the percentiles."""
    axes.set_xscale("log")
    axes.set_xlim(1, max(most, 2))
    axes.xaxis.set_major_locator(FixedLocator([mark for mark in RARITIES if mark <= max(most, 2)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda rarity, _: RARITIES.get(rarity, "")))
    axes.set_xlabel("share of values that are no longer")
