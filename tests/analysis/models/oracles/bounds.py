"""Two values between which throughput and response lie, whatever the order of service."""

from dataclasses import dataclass

from cuesta.analysis.models.network import Network
from cuesta.errors import InputError


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of transactions a second, and of seconds of response."""

    least_throughput: float
    most_throughput: float
    least_response: float
    most_response: float


def of_throughput(network: Network, users: int, least: float, most: float) -> Bounds:
    """Complete bounds of throughput by the response-time law R = N/X − Z."""
    return Bounds(least, most, users / most - network.think, users / least - network.think)


def insist_on_single_servers(network: Network, name: str) -> None:
    """Raise InputError for stations to which the proof of some bounds does not apply."""
    if found := [station for station in network.queueing if not station.is_single]:
        raise InputError(f"{found[0].name}: {name} hold for one server, got another rate: use asymptotic bounds")
