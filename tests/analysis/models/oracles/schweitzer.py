"""Approximate mean value analysis: time does not grow with the number of users.

P. J. Schweitzer, Approximate analysis of multiclass closed networks of queues, 1979; Lazowska, Zahorjan, Graham and
Sevcik, Quantitative System Performance, 1984, §6.4. It takes an arrival to find (N − 1)/N of the mean queue.
Typical errors are 2 to 3 %.
"""

from cuesta.analysis.models.network import Network, Solution, insist_on_users, solution
from cuesta.errors import InputError

PRECISION = 1e-10
"""Change of a queue, as a share of the users, at which the iteration ends."""
MOST_ITERATIONS = 100_000


def solve(network: Network, users: int) -> Solution:
    """The approximate means for a number of users."""
    insist_on_users(users)
    if found := [station for station in network.queueing if not station.is_single]:
        raise InputError(f"{found[0].name}: the approximation takes one server, got another rate: use convolution")
    seen = (users - 1) / users
    queues = [users / len(network.stations)] * len(network.stations)
    for _ in range(MOST_ITERATIONS):
        residences = [
            station.demand * (1 if station.is_delay else 1 + seen * queue)
            for station, queue in zip(network.stations, queues, strict=True)
        ]
        throughput = users / (network.think + sum(residences))
        before, queues = queues, [throughput * residence for residence in residences]
        if max(abs(a - b) for a, b in zip(queues, before, strict=True)) <= PRECISION * users:
            return solution(network, users, throughput, queues)
    raise InputError(f"the approximation has not converged with {users} users")
