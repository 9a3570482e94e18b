"""The exact means of a closed network."""

from typing import NamedTuple

from cuesta.analysis.models import closed
from cuesta.analysis.models.network import Network


class Solved(NamedTuple):
    throughput: float
    """Transactions a second."""
    response: float
    """Mean seconds."""


def solve(network: Network, users: int) -> Solved:
    response = closed.response(network, users)
    return Solved(users / (response + network.think), response)
