"""Other exact methods for the same queues, to compare those of `cuesta.analysis.models` with: transactions a second."""

from cuesta.analysis.models.multi_server_queue import loss
from cuesta.analysis.models.network import Network


def mean_values(network: Network, users: int) -> float:
    """Stations of one server and delays, by mean value analysis: an arrival finds the queues of one user less.

    M. Reiser and S. S. Lavenberg, Mean-value analysis of closed multichain queuing networks, JACM 27(2), 1980.
    """
    queues, throughput = [0.0] * len(network.queueing), 0.0
    for count in range(1, users + 1):
        residences = [station.demand * (1 + queue) for station, queue in zip(network.queueing, queues, strict=True)]
        throughput = count / (network.delay + sum(residences))
        queues = [throughput * residence for residence in residences]
    return throughput


def repairman(network: Network, users: int) -> float:
    """One station of one server and a delay: the share for which it is idle is Erlang's loss formula with Z/D sources.

    A. O. Allen, Probability, Statistics, and Queueing Theory, 1990, §6.2.
    """
    (station,) = network.queueing
    return (1 - loss(users, network.delay / station.demand)) / station.demand
