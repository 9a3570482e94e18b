"""M/M/m: transactions that arrive at random at m servers, whatever their response.

A. K. Erlang, 1917; L. Kleinrock, Queueing Systems I, 1975, §3.5. Users who wait for answers slow down when response
grows, so this holds for arrivals that do not: near saturation it is wrong for a closed load.
"""

from dataclasses import dataclass

from cuesta.analysis.models.repairman import loss
from cuesta.errors import RefusedError


@dataclass(frozen=True, slots=True)
class OpenSolution:
    """What servers do with arrivals at a constant rate."""

    utilization: float
    waiting: float
    """The probability that an arrival waits: Erlang's C."""
    response: float
    """Seconds, waiting and served."""
    queue: float
    """Mean number of transactions, waiting and served."""


def solve(rate: float, demand: float, servers: int = 1) -> OpenSolution:
    """The exact means with `rate` arrivals a second of `demand` seconds each.

    Raises RefusedError without a steady state.
    """
    load = rate * demand
    busy = load / servers
    if busy >= 1:
        raise RefusedError(f"no steady state: the servers would be {busy:.0%} busy")
    blocked = loss(servers, load)
    waiting = blocked / (1 - busy + busy * blocked)
    response = demand + waiting * demand / (servers * (1 - busy))
    return OpenSolution(busy, waiting, response, rate * response)
