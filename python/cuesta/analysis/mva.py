"""Exact mean value analysis of a closed network with one class of users and a think time.

The golden tables of the driver are compared with it. Stations have a single server or are pure delays; a station with
several servers needs convolution and is not here.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Solution:
    """What a closed network does with `users` in it."""

    users: int
    throughput: float
    """X: transactions a second."""
    response: float
    """R: seconds from input to answer, think time excluded."""
    residences: tuple[float, ...]
    """Seconds that a transaction spends at each station."""
    queues: tuple[float, ...]
    """Mean number at each station."""


def solve(demands: Sequence[float], think: float, users: int, delay: float = 0.0) -> list[Solution]:
    """Solve for 1 to `users` users. Demands, think time and pure delay are in seconds.

    Reiser and Lavenberg (J. ACM 27, 1980): who arrives with n users in the network sees what n − 1 leave there.
    """
    solutions, queues = list[Solution](), tuple(0.0 for _ in demands)
    for n in range(1, users + 1):
        residences = tuple(demand * (1 + queue) for demand, queue in zip(demands, queues, strict=True))
        response = sum(residences) + delay
        throughput = n / (think + response)
        queues = tuple(throughput * residence for residence in residences)
        solutions.append(Solution(n, throughput, response, residences, queues))
    return solutions
