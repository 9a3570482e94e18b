"""A paced load at one station: R = R₀ + D / (1 − λD), with λ = users / cycle.

While answers come within the cycle, the load is open, and the station an M/M/1 queue, M/M/m, or M/D/1 if services are
fixed. A user whose answer takes longer waits for it: then the load is closed, with R = N/X (B. Schroeder, A. Wierman
and M. Harchol-Balter, Open versus closed, NSDI 2006).
"""

from cuesta.analysis.models import closed, fixed_service, multi_server_queue
from cuesta.analysis.models.network import Network, Station


def response(users: int, cycle: float, station: Station, delay: float) -> float:
    """Mean seconds of users with an input every `cycle` seconds; `delay` is R₀."""
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


def network_response(network: Network, users: int, cycle: float | None) -> float:
    """Mean seconds at several stations; of a closed load if there is no cycle.

    By decomposition: each station but the bottleneck adds its open response as a delay.
    """
    if cycle is None:
        return closed.response(network, users)
    heaviest = network.bottleneck
    if heaviest is None:
        return network.delay
    others = [station for station in network.queueing if station is not heaviest]
    delay = network.delay + sum(response(users, cycle, each, 0.0) for each in others)
    return response(users, cycle, heaviest, delay)
