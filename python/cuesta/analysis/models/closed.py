"""Solves a closed network exactly by the cheapest method that can."""

from cuesta.analysis.models import convolution, exact_mva
from cuesta.analysis.models.network import Network, Solution


def solve(network: Network, users: int) -> Solution:
    """The exact means: by convolution if one station has a queue or one has several servers, else by mean values."""
    queueing = [station for station in network.queueing if station.demand]
    if len(queueing) == 1 or not all(station.is_single for station in queueing):
        return convolution.solve(network, users)
    return exact_mva.solve(network, users)
