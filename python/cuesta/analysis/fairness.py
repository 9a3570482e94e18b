"""Whether all users were served alike."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cuesta.ledger import User


@dataclass(frozen=True, slots=True)
class Fairness:
    """How the users' mean responses compare, in seconds."""

    users: int
    """Users with at least one transaction."""
    jain: float
    """Jain's index: 1 when all are served alike, 1/n when one gets everything."""
    worst_group: str
    worst_user: int
    worst_mean: float
    median: float


def jain(values: Sequence[float]) -> float:
    """Give (Σx)² / (n·Σx²), from 1/n to 1; 1 if all are zero (R. Jain et al., DEC-TR-301, 1984)."""
    squares = sum(value * value for value in values)
    return min(sum(values) ** 2 / (len(values) * squares), 1.0) if squares else 1.0


def fairness(users: Iterable[User]) -> Fairness | None:
    """Compare the users of a step by mean response since due; None if none of them completed anything."""
    served = [user for user in users if user.transactions]
    if not served:
        return None
    worst = max(served, key=lambda user: user.mean)
    means = [user.mean for user in served]
    return Fairness(len(served), jain(means), worst.group, worst.user, worst.mean, statistics.median(means))
