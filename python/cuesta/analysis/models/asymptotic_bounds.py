"""Asymptotic bounds: no queueing at all, and all users waiting at every station.

P. J. Denning and J. P. Buzen, The operational analysis of queueing network models, Computing Surveys 10(3), 1978;
Lazowska and others, Quantitative System Performance, 1984, §5.2. They need no distribution.
"""

from cuesta.analysis.models.bounds import Bounds, of_throughput
from cuesta.analysis.models.network import Network, insist_on_users


def bounds(network: Network, users: int) -> Bounds:
    """N / (N·ΣD + Z) ≤ X ≤ min(1/Dmax, N / (ΣD + Z)). Delays make nobody wait, so they count once."""
    insist_on_users(users)
    waiting = sum(station.demand for station in network.queueing)
    least = users / (users * waiting + network.delay)
    most = min(network.most_throughput, users / (network.least_response + network.think))
    return of_throughput(network, users, least, most)
