"""One station of one server and a think time, in closed form: the machine repairman.

Each user thinks or is at the station, which is idle with the probability that Erlang's loss formula gives for Z/D
sources of work: X = (1 − B(N, Z/D)) / D. (A. O. Allen, Probability, Statistics, and Queueing Theory, 1990, §6.2.)
A check of the other methods, and quick for any number of users.
"""

from cuesta.analysis.models.multi_server_queue import loss
from cuesta.analysis.models.network import Network, Solution, Station, insist_on_users, solution
from cuesta.errors import InputError


def solve(network: Network, users: int) -> Solution:
    """The exact means for a number of users."""
    insist_on_users(users)
    if not (len(network.queueing) == 1 and network.queueing[0].is_single):
        raise InputError(f"expected one station of one server, got {len(network.queueing)} stations")
    (station,) = network.queueing
    throughput = (1 - loss(users, network.delay / station.demand)) / station.demand
    return solution(network, users, throughput, [queue(network, each, users, throughput) for each in network.stations])


def queue(network: Network, station: Station, users: int, throughput: float) -> float:
    """The mean number of transactions at a station: users who neither think nor are delayed are at the server."""
    return throughput * station.demand if station.is_delay else users - throughput * network.delay
