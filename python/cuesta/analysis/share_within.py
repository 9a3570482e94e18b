"""The share of a recorded row that a measurement interval covers."""

from cuesta.ledger import HostRow, StepTimes
from cuesta.ledger.meters import Row


def share_within(row: HostRow | Row, step: StepTimes) -> float:
    """The share of a row in the measurement interval: the host's seconds do not begin with it."""
    overlap = min(row.end, step.end) - max(row.end - row.length, step.settled)
    return max(overlap / row.length, 0.0) if row.length else 0.0
