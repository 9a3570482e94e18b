"""One server whose services all take the same time, first come first served.

Closed, L. Takács, Introduction to the Theory of Queues, 1962, chapter 5: with N users who are away for random times of
mean Z and a service of D, the server is idle for the share 1 / (1 + N·(D/Z)·S) of the time, where S is the sum over n
from 0 of C(N−1, n) times the product of e^(jD/Z) − 1 for j from 1 to n. It is exact for exponential times away.

Open, Pollaczek and Khinchine (L. Kleinrock, Queueing Systems I, 1975, §5.6): at random arrivals the wait is half of
that for exponential services.
"""

import math

ENOUGH = 1e17
"""S at which the server is saturated, but for rounding."""
NEGLIGIBLE = 1e-17
"""A share of S that no longer changes it."""
LARGEST = 100.0
"""Largest exponent: a single term then exceeds ENOUGH."""


def residence(users: int, demand: float, away: float) -> float:
    """Mean seconds, with waiting. `away`: mean seconds between a user's answer and the next transaction."""
    if not away:
        return users * demand
    total, term, n = 1.0, 1.0, 0
    while n < users - 1 and NEGLIGIBLE * total < term < ENOUGH:
        n += 1
        term *= (users - n) / n * math.expm1(min(n * demand / away, LARGEST))
        total += term
    return users * demand - away * (1 - 1 / total)


def open_response(rate: float, demand: float) -> float:
    """Mean seconds at `rate` Poisson arrivals a second, below saturation."""
    busy = rate * demand
    return demand * (1 + busy / (1 - busy) / 2)
