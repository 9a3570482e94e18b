"""Balanced-job bounds: a network is slower than one whose demands are all average, faster than one of maximal ones.

J. Zahorjan, K. C. Sevcik, D. L. Eager and B. Galler, Balanced job bound analysis of queueing networks, CACM 25(2),
1982; with think times as in Lazowska and others, Quantitative System Performance, 1984, §5.4.
"""

from cuesta.analysis.models.network import Network, insist_on_users
from tests.analysis.models.oracles.bounds import Bounds, insist_on_single_servers, of_throughput


def bounds(network: Network, users: int) -> Bounds:
    """N / (Z + D + (N−1)·Dmax / (1 + Z/(N·D))) ≤ X ≤ min(1/Dmax, N / (Z + D + (N−1)·Davg / (1 + Z/D)))."""
    insist_on_users(users)
    insist_on_single_servers(network, "balanced-job bounds")
    demands = [station.demand for station in network.queueing if station.demand]
    total, delay = sum(demands), network.delay
    if not total:
        return of_throughput(network, users, users / delay, users / delay)
    average, others = total / len(demands), users - 1
    least = users / (delay + total + others * max(demands) / (1 + delay / (users * total)))
    most = users / (delay + total + others * average / (1 + delay / total))
    return of_throughput(network, users, least, min(most, 1 / max(demands)))
