"""Simulates a closed loop exactly, without a driver: users who think, a queue at one server, a fixed delay."""

import heapq
import random
from dataclasses import dataclass


@dataclass
class Seconds:
    """Number of transactions that ended in each second."""

    transactions: list[int]
    response: list[float]
    thinking: float
    """User-seconds of thinking within the whole."""
    responses: list[float]
    """The response of each transaction."""


def closed_loop(rng: random.Random, users: int, think: float, service: float, delay: float, seconds: int) -> Seconds:
    """Simulate; all times are seconds. The first 30 s are not recorded."""
    warm, end = 30, 30 + seconds
    seen = Seconds([0] * seconds, [0.0] * seconds, 0.0, [])
    inputs = [(rng.expovariate(1 / think), user, 0.0) for user in range(users)]
    heapq.heapify(inputs)
    free = 0.0
    while inputs:
        now, user, since = heapq.heappop(inputs)
        seen.thinking += max(min(now, end) - max(since, warm), 0.0)
        if now >= end:
            continue
        free = max(now, free) + rng.expovariate(1 / service)
        done = free + delay
        if warm <= done < end:
            seen.transactions[int(done - warm)] += 1
            seen.response[int(done - warm)] += done - now
            seen.responses.append(done - now)
        heapq.heappush(inputs, (done + rng.expovariate(1 / think), user, done))
    return seen
