"""A paced load at one station: R = R₀ + D / (1 − λD), with λ = users / cycle.

While answers come within the cycle, the load is open, and the station an M/M/1 queue, M/M/m, or M/D/1 if services are
fixed. A user whose answer takes longer waits for it: then the load is closed, with R = N/X (B. Schroeder, A. Wierman
and M. Harchol-Balter, Open versus closed, NSDI 2006).
"""

import math
from dataclasses import dataclass

from cuesta.analysis.models import closed, fixed_service, multi_server_queue
from cuesta.analysis.models.network import Network, Station, insist_on_users
from cuesta.errors import InputError


@dataclass(frozen=True, slots=True)
class PacedSolution:
    response: float
    """Seconds."""
    throughput: float
    """Answers a second."""
    utilization: float
    is_open: bool
    """Whether answers come within the cycle."""


def solve(users: int, cycle: float, demand: float, delay: float = 0.0, servers: int = 1) -> PacedSolution:
    """The means of users with an input every `cycle` seconds; `delay` is R₀, in seconds.

    Raises InputError for an impossible time.
    """
    insist_on_users(users)
    if not (cycle > 0 and demand >= 0 and delay >= 0):
        raise InputError(f"expected a cycle over 0 s and no negative times, got {cycle:g} s, {demand:g} s, {delay:g} s")
    mean = response(users, cycle, Station("station", demand, servers), delay)
    throughput = users / max(mean, cycle)
    return PacedSolution(mean, throughput, throughput * demand / servers, is_open=mean < cycle)


def response(users: int, cycle: float, station: Station, delay: float) -> float:
    """Mean seconds; does not check its arguments."""
    rate = users / cycle
    if rate * station.demand < station.servers:
        mean = delay + open_response(rate, station)
        if mean < cycle:
            return mean
    return max(delay + closed.residence(users, station, delay), cycle)


def open_response(rate: float, station: Station) -> float:
    """Mean response of an open load, in seconds, at a station below saturation."""
    if station.is_fixed:
        return fixed_service.open_response(rate, station.demand)
    return multi_server_queue.response(rate, station.demand, int(station.servers))


def network_response(network: Network, users: int, cycle: float) -> float:
    """Mean seconds at several stations, by decomposition: each but the bottleneck adds its open response as a delay."""
    heaviest = network.bottleneck
    if heaviest is None:
        return network.delay
    others = [station for station in network.queueing if station is not heaviest]
    delay = network.delay + sum(response(users, cycle, each, 0.0) for each in others)
    return response(users, cycle, heaviest, delay)


def saturation(cycle: float, demand: float, servers: int = 1) -> float:
    return cycle * servers / demand if demand else math.inf
