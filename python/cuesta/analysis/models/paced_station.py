"""Users who type at fixed instants at one station: R = R₀ + D / (1 − λD), with λ = users / cycle.

The users do not wait for answers while these come within the cycle, so the load is open and the station an M/M/1
queue, or M/M/m. If an answer takes longer than the cycle, its user waits for it: then the load is closed, and users
who never think have R = N/X (B. Schroeder, A. Wierman and M. Harchol-Balter, Open versus closed, NSDI 2006).
"""

import math
from dataclasses import dataclass

from cuesta.analysis.models import closed, multi_server_queue
from cuesta.analysis.models.network import Network, insist_on_users
from cuesta.errors import InputError


@dataclass(frozen=True, slots=True)
class PacedSolution:
    """What the station does with paced users."""

    response: float
    """Seconds."""
    throughput: float
    """Answers a second."""
    utilization: float
    is_open: bool
    """Whether answers come within the cycle."""


def solve(users: int, cycle: float, demand: float, delay: float = 0.0, servers: int = 1) -> PacedSolution:
    """The means of users who type every `cycle` seconds; `delay` R₀ is the part of a response without any waiting."""
    insist_on_users(users)
    if not (cycle > 0 and demand >= 0 and delay >= 0):
        raise InputError(f"expected a cycle over 0 s and no negative times, got {cycle:g} s, {demand:g} s, {delay:g} s")
    mean = response(users, cycle, demand, delay, servers)
    throughput = users / max(mean, cycle)
    return PacedSolution(mean, throughput, throughput * demand / servers, is_open=mean < cycle)


def response(users: int, cycle: float, demand: float, delay: float, servers: int) -> float:
    """Mean seconds, for values that were checked."""
    rate = users / cycle
    if rate * demand < servers:
        mean = delay + multi_server_queue.response(rate, demand, servers)
        if mean < cycle:
            return mean
    return max(delay + closed.residence(users, demand, delay, servers), cycle)


def network_response(network: Network, users: int, cycle: float) -> float:
    """Mean seconds at several stations: all but the heaviest one, which saturates first, are delays with queues."""
    heaviest = network.bottleneck
    if heaviest is None:
        return network.delay
    others = [station for station in network.queueing if station is not heaviest]
    delay = network.delay + sum(solve(users, cycle, each.demand, 0.0, int(each.servers)).response for each in others)
    return solve(users, cycle, heaviest.demand, delay, int(heaviest.servers)).response


def saturation(cycle: float, demand: float, servers: int = 1) -> float:
    """The number of users who keep the station busy all the time."""
    return cycle * servers / demand if demand else math.inf
