"""Asymptotic bounds: no user waits, or the bottleneck is saturated.

P. J. Denning and J. P. Buzen, The operational analysis of queueing network models, Computing Surveys 10(3), 1978;
Lazowska and others, Quantitative System Performance, 1984, §5.2. They need no distribution.
"""

from dataclasses import dataclass

from cuesta.analysis.models.network import Network, insist_on_users


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of transactions a second, and of seconds of response."""

    most_throughput: float
    least_response: float


def bounds(network: Network, users: int) -> Bounds:
    """X ≤ min(1/Dmax, N / (ΣD + Z)), and R = N/X − Z by the response-time law."""
    insist_on_users(users)
    most = min(network.most_throughput, users / (network.least_response + network.think))
    return Bounds(most, users / most - network.think)
