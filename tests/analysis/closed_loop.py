"""Simulates a closed loop exactly, without a driver: users who think, m servers with one queue, a fixed delay."""

import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

WARM = 30.0
"""Seconds before `closed_loop` begins to record."""


@dataclass(frozen=True)
class Load:
    """One system; times are seconds."""

    users: int = 10
    think: float = 1.0
    service: float = 0.05
    servers: int = 1
    delay: float = 0.0
    """Time after the service: a line, or something that no meter shows."""
    locked: float = 0.0
    """Time for which each transaction holds a lock that all share, after its service. No meter shows it."""
    is_exponential: bool = True
    """Whether think and service times are."""
    is_fixed: bool = False
    """Whether each service takes the same time, whatever think times are."""


class Transaction(NamedTuple):
    """Its instants: sent, service begun, service ended, answered."""

    sent: float
    begun: float
    served: float
    answered: float


def transactions(rng: random.Random, load: Load, end: float) -> Iterator[Transaction]:
    """Simulate all transactions that are sent before `end`, in the order in which they are sent."""

    def drawn(mean: float) -> float:
        return (rng.expovariate(1 / mean) if load.is_exponential else mean) if mean else 0.0

    inputs = [rng.expovariate(1 / load.think) if load.think else 0.0 for _ in range(load.users)]
    heapq.heapify(inputs)
    free, unlocked = [0.0] * load.servers, 0.0
    while inputs and (sent := heapq.heappop(inputs)) < end:
        begun = max(sent, heapq.heappop(free))
        served = begun + (load.service if load.is_fixed else drawn(load.service))
        heapq.heappush(free, served)
        unlocked = max(unlocked, served) + load.locked
        answered = (unlocked if load.locked else served) + load.delay
        yield Transaction(sent, begun, served, answered)
        heapq.heappush(inputs, answered + drawn(load.think))


@dataclass
class Seconds:
    """Number of transactions that ended in each second."""

    transactions: list[int]
    response: list[float]
    thinking: float
    """User-seconds of thinking within the whole."""
    responses: list[float]
    """The response of each transaction."""


def closed_loop(
    rng: random.Random, users: int, think: float, service: float, delay: float, seconds: int, *, is_fixed: bool = False
) -> Seconds:
    """Simulate one server; all times are seconds. The first WARM are not recorded."""
    end = WARM + seconds
    seen = Seconds([0] * seconds, [0.0] * seconds, float(users * seconds), [])
    for each in transactions(rng, Load(users, think, service, delay=delay, is_fixed=is_fixed), end):
        response = each.answered - each.sent
        seen.thinking -= max(min(each.answered, end) - max(each.sent, WARM), 0.0)
        if WARM <= each.answered < end:
            seen.transactions[int(each.answered - WARM)] += 1
            seen.response[int(each.answered - WARM)] += response
            seen.responses.append(response)
    return seen
