"""The interactive response-time law R = N/X − Z − K: what a closed run must obey, whatever the host does.

It holds for any distribution (P. J. Denning and J. P. Buzen, Computing Surveys 10(3), 1978), so it checks the counting,
not the host. Z and K are those of the transactions that ended in the interval; so the run must have gone on for several
think times before: of those of 10 s, only the short ones have ended in the first seconds. What the law predicts is
compared with the response since *sent*, for N/X − Z − K leaves out lateness.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Law:
    """The terms of the law and how far it is off."""

    n: float
    """N: users at work, on average."""
    x: float
    """X: transactions a second, counted."""
    z: float
    """Z: mean think time in seconds."""
    k: float
    """K: mean keying time in seconds."""
    r_predicted: float
    """N/X − Z − K in seconds."""
    r_measured: float
    """Mean response since sent in seconds."""
    error: float
    """(predicted − measured) as a share of N/X, the whole cycle."""
    chance: float
    """The error that the edges of so short an interval make by themselves: one standard deviation."""


def law(users: float, seconds: float, transactions: int, sums: Mapping[str, float]) -> Law | None:
    """Apply the law to an interval's sums of `think`, `keying` and `response_from_sent`. None if nothing ended in it.

    At either edge a user is somewhere within a cycle, so N users blur the sum of their cycles by about √(2N) cycles.
    """
    if not transactions or not users or not seconds:
        return None
    x = transactions / seconds
    z, k, measured = (sums[name] / transactions for name in ("think", "keying", "response_from_sent"))
    predicted = users / x - z - k
    error = (predicted - measured) / (users / x)
    return Law(users, x, z, k, predicted, measured, error, math.sqrt(2 * users) / transactions)
