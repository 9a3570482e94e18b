"""The interactive response-time law R = N/X − Z − K: what a closed run must obey, whatever the host does.

It is an identity of operational analysis (P. J. Denning and J. P. Buzen, Computing Surveys 10(3), 1978) over the
interval in which it is measured: Z and K are the time that all users *spent* thinking and keying within the interval,
over the transactions that ended in it. (The think times of the transactions that ended would not do: those of 10 s
hardly end in a run of 30 s.) So it needs no steady state and checks the counting, not the host. What it predicts is
compared with the response since *sent*, for N/X − Z − K leaves out lateness.
"""

import math

from cuesta.figures.step import ResponseLaw
from cuesta.records.rows import TimeSums

ERRORS = 3.0
"""Standard deviations of the gap that the interval's edges make, within which counts agree with the law."""
LEAST = 0.001
"""Share of a cycle that is never called a gap."""


def apply_law(
    users: float, seconds: float, transactions: int, sums: TimeSums, edges: tuple[int, int] = (0, 0)
) -> ResponseLaw | None:
    """Apply the law to an interval's sums of times. None if nothing ended in it.

    At either edge some users wait: a part of their response lies outside the interval, or inside without its end. That
    blurs the sum of responses by about one response for each of them, added as errors are. `edges` are the numbers of
    users who waited when the interval began and when it ended. A queue of W holds each of its users for W/X, of which
    half has passed: so W² / 2X user-seconds are on the wrong side of an edge. Where a queue was long at one edge and
    short at the other, the difference is a gap to expect too: without it one in six sound runs at the knee looked
    miscounted.
    """
    if not transactions or not users or not seconds:
        return None
    x = transactions / seconds
    z, k, measured = (each / transactions for each in (sums.think, sums.keying, sums.response_from_sent))
    predicted = users / x - z - k
    waiting = x * measured
    chance = math.sqrt(2 * waiting) * measured / (users * seconds)
    begun, ended = edges
    uneven = abs(ended**2 - begun**2) / (2 * x * users * seconds)
    return ResponseLaw(users, x, z, k, predicted, measured, (predicted - measured) / (users / x), chance, uneven)


def agrees(law: ResponseLaw) -> bool:
    """Whether N, X, Z, K and R as counted agree.

    Responses may be exponential, and few may cross an edge: then a gap of many standard deviations is not rare. A sum
    of n exponential durations of mean m exceeds its mean by more than m (z √n + z²/2) with at most the probability
    e^(−z²/2) (B. Laurent and P. Massart, Annals of Statistics 28(5), 2000, lemma 1).
    """
    waiting = law.x * law.r_measured
    one_response = law.chance / math.sqrt(2 * waiting) if waiting else 0.0
    return abs(law.error) <= max(ERRORS * law.expected_gap + ERRORS**2 / 2 * one_response, LEAST)
