"""The exact mean response of a closed network, by the cheapest method.

Fixed services have an exact solution only at a single queueing station: beside others they count as exponential.
"""

from cuesta.analysis.models import convolution, fixed_service
from cuesta.analysis.models.network import Network, Station, insist_on_users

SATURATED = 1 - 1e-12
"""The utilization of a saturated bottleneck, but for rounding."""


def response(network: Network, users: int) -> float:
    """Mean seconds at all stations."""
    insist_on_users(users)
    queueing = [station for station in network.queueing if station.demand]
    if len(queueing) > 1:
        return users / throughput(network, users) - network.think
    delays = network.delay - network.think
    return delays + residence(users, queueing[0], network.delay) if queueing else delays


def residence(users: int, station: Station, delay: float) -> float:
    """Seconds at the only queueing station; `delay` is the rest of a user's cycle."""
    if not station.demand:
        return 0.0
    if station.is_fixed:
        return fixed_service.residence(users, station.demand, delay)
    throughput, queue = convolution.solve_one_station(users, station.demand, delay, station.servers)
    return queue / throughput


def throughput(network: Network, users: int) -> float:
    """Transactions a second of several stations. It stays the same for all users beyond those who saturate one."""
    count = min(users, 64)
    while (rate := convolution.throughput(network, count)) < SATURATED * network.most_throughput and count < users:
        count = min(users, 2 * count)
    return rate
