"""Distributions as boxes of characters, one in a row, on one logarithmic axis: for where there are no plots."""

import math
from collections.abc import Mapping

from cuesta.analysis.waits import Waits
from cuesta.columns import align_left, cut
from cuesta.plain_text import plain
from cuesta.units import seconds

WIDTH = 64
"""Columns of a row."""
MOST_NAME = 16
"""Columns of a name."""
ENDS, BOX = (0.05, 0.95), (0.25, 0.75)
"""Shares of the values at the ends of the thin and of the thick part."""


def draw_boxes(named: Mapping[str, Waits]) -> list[str]:
    """A row for each distribution and one for the axis; none if a distribution has no values."""
    if not named or not all(waits.count for waits in named.values()):
        return []
    places = {
        name: [_quantile(waits, share) for share in (ENDS[0], *BOX, ENDS[1], 0.5)] for name, waits in named.items()
    }
    low, high = min(map(min, places.values())), max(map(max, places.values()))
    name_width = max(len(cut(plain(name), MOST_NAME)) for name in named)
    width = WIDTH - name_width - 2
    rows = [
        f"{align_left(cut(plain(name), MOST_NAME), name_width)}  {_draw(found, low, high, width)}"
        for name, found in places.items()
    ]
    left, right = seconds(low), seconds(high)
    return [*rows, f"{' ' * (name_width + 2)}{left}{right.rjust(width - len(left))}"]


def _quantile(waits: Waits, share: float) -> float:
    found = waits.quantile(share)
    return max(found.value if found else 0.0, 1e-9)


def _draw(found: list[float], low: float, high: float, width: int) -> str:
    start, left, right, end, middle = (_place(value, low, high, width) for value in found)
    row = [" "] * width
    row[start : end + 1] = "─" * (end + 1 - start)
    row[left : right + 1] = "█" * (right + 1 - left)
    row[middle] = "|"
    return "".join(row).rstrip()


def _place(value: float, low: float, high: float, width: int) -> int:
    """The column of a value."""
    return round((width - 1) * math.log(value / low) / math.log(high / low)) if high > low else width // 2
