"""Geometric bounds: the queues of stations that are not the bottleneck grow as geometric series.

G. Casale, R. R. Muntz and G. Serazzi, Geometric bounds: a noniterative analysis technique for closed queueing networks,
IEEE Transactions on Computers 57(6), 2008. Tighter than balanced-job bounds, and still without a recursion.

Mean value analysis gives X(N) = N / (Z + D + Dmax·(N−1 − Z·X(N−1)) − Σ (Dmax − D_i)·Q_i(N−1)). Bounds of the queues Q_i
and of X(N−1) between (N−1)/N·X(N) and X(N) make it a quadratic equation.
"""

import math

from cuesta.analysis.models import asymptotic_bounds
from cuesta.analysis.models.network import Network, insist_on_users
from tests.analysis.models.oracles.bounds import Bounds, insist_on_single_servers, of_throughput


def bounds(network: Network, users: int) -> Bounds:
    """Bounds of throughput and response at a number of users."""
    insist_on_users(users)
    insist_on_single_servers(network, "geometric bounds")
    demands = [station.demand for station in network.queueing if station.demand]
    if users == 1 or not demands:
        only = users / (network.delay + sum(demands))
        return of_throughput(network, users, only, only)
    least = throughput(network, users, demands, upper=False)
    most = throughput(network, users, demands, upper=True)
    return of_throughput(network, users, least, min(most, 1 / max(demands)))


def throughput(network: Network, users: int, demands: list[float], upper: bool) -> float:
    """Solve the quadratic equation with one side's queues."""
    most, others, delay = max(demands), users - 1, network.delay
    spared = sum(
        (most - demand) * queue(network, others, demand, demands, upper) for demand in demands if demand < most
    )
    linear = delay + sum(demands) + most * others - spared
    root = linear**2 - 4 * delay * most * (users if upper else others)
    return 2 * users / (linear + math.sqrt(max(root, 0.0)))


def queue(network: Network, users: int, demand: float, demands: list[float], upper: bool) -> float:
    """Bound the mean queue of a station that is not the bottleneck, by a geometric series of its utilization."""
    if upper:
        busy = demand * proportional_bound(network, users, demands)
    else:
        busy = demand * users / (network.delay + sum(demands) + max(demands) * users)
    return (busy - busy ** (users + 1)) / (1 - busy)


def proportional_bound(network: Network, users: int, demands: list[float]) -> float:
    """An upper bound of throughput: queues are at least proportional to demands.

    C. T. Hsieh and S. S. Lam, Two classes of performance bounds for closed queueing networks, Performance Evaluation
    7(1), 1987.
    """
    total, others = sum(demands), users - 1
    thinking = network.delay * asymptotic_bounds.bounds(network, others).most_throughput if others else 0.0
    found = sum(demand**2 for demand in demands) / total * (others - thinking)
    return min(1 / max(demands), users / (network.delay + total + found))
