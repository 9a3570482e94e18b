"""Exact mean value analysis of one class of users, for stations of one server and delays.

M. Reiser and S. S. Lavenberg, Mean-value analysis of closed multichain queuing networks, JACM 27(2), 1980. Time is
proportional to users × stations. Stations of several servers go to `convolution`: the recursion over their marginal
probabilities cancels and returns negative times.
"""

from collections import deque
from collections.abc import Iterator

from cuesta.analysis.models.network import Network, Solution, insist_on_users, solution
from cuesta.errors import InputError


def solve(network: Network, users: int) -> Solution:
    insist_on_users(users)
    (last,) = deque(recursion(network, users), maxlen=1)
    return solution(network, users, *last)


def recursion(network: Network, users: int) -> Iterator[tuple[float, list[float]]]:
    """Throughput and the mean queues with 1, 2, … users: an arrival finds the queues of one user less."""
    if found := [station for station in network.queueing if not station.is_single]:
        raise InputError(f"{found[0].name}: mean value analysis takes one server, got another rate: use convolution")
    demands = [(station.demand, 0.0 if station.is_delay else 1.0) for station in network.stations]
    queues = [0.0] * len(demands)
    for count in range(1, users + 1):
        residences = [demand * (1 + waits * queue) for (demand, waits), queue in zip(demands, queues, strict=True)]
        throughput = count / (network.think + sum(residences))
        queues = [throughput * residence for residence in residences]
        yield throughput, queues
