"""The rows of the host's meters that a measurement interval covers."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeVar

from cuesta.ledger import HostRow, StepTimes
from cuesta.ledger.meters import MeterRow

AnyRow = TypeVar("AnyRow", HostRow, MeterRow)


def rows_within(rows: Sequence[AnyRow], step: StepTimes) -> list[tuple[AnyRow, float]]:
    """Select the rows that a step's measurement interval covers, each with the share that it covers.

    `rows` are in order of time; the host's seconds do not begin with the interval.
    """
    first = bisect_right(rows, step.settled, key=lambda row: row.end)
    last = bisect_right(rows, step.end, key=lambda row: row.end - row.length)
    return [(row, share) for row in rows[first:last] if (share := share_within(row, step)) > 0]


def share_within(row: HostRow | MeterRow, step: StepTimes) -> float:
    overlap = min(row.end, step.end) - max(row.end - row.length, step.settled)
    return max(overlap / row.length, 0.0) if row.length else 0.0
