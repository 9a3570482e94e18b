"""Solves a closed network by the cheapest exact method.

Fixed services have an exact solution only at a single queueing station: beside others they count as exponential.
"""

from cuesta.analysis.models import convolution, exact_mva, fixed_service
from cuesta.analysis.models.network import Network, Solution, Station, insist_on_users, solution

SATURATED = 1 - 1e-12
"""The utilization of a saturated bottleneck, but for rounding."""


def solve(network: Network, users: int) -> Solution:
    """The exact means: by convolution for a single queueing station or several servers, else by mean value analysis."""
    queueing = [station for station in network.queueing if station.demand]
    if len(queueing) == 1 and queueing[0].is_fixed:
        throughput = users / (response(network, users) + network.think)
        queue = users - throughput * network.delay
        queues = [queue if each is queueing[0] else throughput * each.demand for each in network.stations]
        return solution(network, users, throughput, queues)
    if len(queueing) == 1 or not all(station.is_single for station in queueing):
        return convolution.solve(network, users)
    return exact_mva.solve(network, users)


def response(network: Network, users: int) -> float:
    """The exact mean response in seconds, much faster than `solve` for many users.

    If no rate falls with the queue, throughput stays constant for all users beyond those who saturate the bottleneck.
    """
    insist_on_users(users)
    queueing = [station for station in network.queueing if station.demand]
    if not queueing:
        return network.delay - network.think
    if any(station.rates for station in queueing):
        return solve(network, users).response
    if len(queueing) > 1:
        return users / throughput(network, users) - network.think
    (station,) = queueing
    return network.delay - network.think + residence(users, station, network.delay)


def residence(users: int, station: Station, delay: float) -> float:
    """Seconds at the only queueing station; `delay` is the rest of a user's cycle."""
    if not station.demand:
        return 0.0
    if station.is_fixed:
        return fixed_service.residence(users, station.demand, delay)
    throughput, queue = convolution.solve_one_station(users, station.demand, delay, station.servers)
    return queue / throughput


def throughput(network: Network, users: int) -> float:
    """Transactions a second of several stations."""
    enough, throughput = SATURATED * network.most_throughput, 0.0
    if all(station.is_single for station in network.queueing):
        for throughput, _ in exact_mva.recursion(network, users):
            if throughput >= enough:
                break
        return throughput
    count = min(users, 64)
    throughput = convolution.throughput(network, count)
    while throughput < enough and count < users:
        count = min(users, 2 * count)
        throughput = convolution.throughput(network, count)
    return throughput
