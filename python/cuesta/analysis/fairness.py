"""Fairness of the users' mean responses."""

import statistics
from collections.abc import Iterable, Sequence

from cuesta.figures.step import Fairness
from cuesta.records.rows import UserRow


def jain(values: Sequence[float]) -> float:
    """(Σx)² / (n·Σx²), from 1/n to 1; 1 if all are zero (R. Jain et al., DEC-TR-301, 1984)."""
    squares = sum(value * value for value in values)
    return min(sum(values) ** 2 / (len(values) * squares), 1.0) if squares else 1.0


def compare_users(users: Iterable[UserRow]) -> Fairness | None:
    """Compare the users of a step by mean response since due; None if none of them completed anything."""
    served = [user for user in users if user.transactions]
    if not served:
        return None
    worst = max(served, key=lambda user: user.mean)
    means = [user.mean for user in served]
    return Fairness(len(served), jain(means), worst.group, worst.user, worst.mean, statistics.median(means))
