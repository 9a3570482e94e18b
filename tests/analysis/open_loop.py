"""Simulates open and paced loads exactly, without a driver: servers with one queue that start empty."""

import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass

from cuesta.analysis.overload import Passes


@dataclass(frozen=True)
class OpenLoad:
    """One system; times are seconds. Passes are single transactions."""

    per_s: float
    """Passes that the plan makes due a second."""
    utilization: float
    """What they ask of the servers, as a share of their capacity."""
    seconds: int
    servers: int = 1
    is_exponential: bool = True
    """Whether service is exponential; else it is fixed."""
    paced_users: int = 0
    """Users with fixed instants; 0 is random arrivals."""
    settle: int = 5

    @property
    def service(self) -> float:
        return self.utilization * self.servers / self.per_s


@dataclass
class OpenSeconds:
    """What became due and what ended in each second, and the mean response of what ended."""

    passes: list[Passes]
    responses: list[float]

    @property
    def counts(self) -> list[float]:
        return [float(second.ended) for second in self.passes]


def arrivals(rng: random.Random, load: OpenLoad) -> Iterator[float]:
    """When passes become due, from the start of the load on."""
    end, at = load.settle + load.seconds, 0.0
    if load.paced_users:
        cycle = load.paced_users / load.per_s
        first = sorted(rng.random() * cycle for _ in range(load.paced_users))
        yield from (each + cycle * turn for turn in range(int(end / cycle) + 1) for each in first)
        return
    while at < end:
        at += rng.expovariate(load.per_s)
        yield at


def open_loop(rng: random.Random, load: OpenLoad) -> OpenSeconds:
    """Simulate one load; what happens while it settles is not recorded."""
    due, ended = [0] * load.seconds, [0] * load.seconds
    sums = [0.0] * load.seconds
    free = [0.0] * load.servers
    for at in arrivals(rng, load):
        service = rng.expovariate(1 / load.service) if load.is_exponential else load.service
        done = max(at, heapq.heappop(free)) + service
        heapq.heappush(free, done)
        if load.settle <= at < load.settle + load.seconds:
            due[int(at - load.settle)] += 1
        if load.settle <= done < load.settle + load.seconds:
            ended[int(done - load.settle)] += 1
            sums[int(done - load.settle)] += done - at
    even = load.per_s if load.paced_users else None
    passes = [Passes(1.0, arrived if even is None else even, done) for arrived, done in zip(due, ended, strict=True)]
    return OpenSeconds(passes, [total / done for total, done in zip(sums, ended, strict=True) if done])
