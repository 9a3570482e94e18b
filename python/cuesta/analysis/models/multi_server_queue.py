"""M/M/m: Poisson arrivals, independent of the response, at m servers.

A. K. Erlang, 1917; L. Kleinrock, Queueing Systems I, 1975, §3.5. Near saturation it is wrong for a closed load, whose
users slow down when the response grows.
"""

from dataclasses import dataclass

from cuesta.errors import RefusedError


@dataclass(frozen=True, slots=True)
class OpenSolution:
    utilization: float
    waiting: float
    """The probability that an arrival waits: Erlang's C."""
    response: float
    """Seconds, with waiting."""
    queue: float
    """Mean number of transactions, waiting or in service."""


def solve(rate: float, demand: float, servers: int = 1) -> OpenSolution:
    """The exact means with `rate` arrivals a second of `demand` seconds each.

    Raises RefusedError without a steady state.
    """
    busy = rate * demand / servers
    if busy >= 1:
        raise RefusedError(f"no steady state: the servers would be {busy:.0%} busy")
    held = response(rate, demand, servers)
    return OpenSolution(busy, waiting(rate * demand, servers), held, rate * held)


def response(rate: float, demand: float, servers: int) -> float:
    """Mean seconds of a transaction, below saturation."""
    load = rate * demand
    if servers == 1:
        return demand / (1 - load)
    return demand + waiting(load, servers) * demand / (servers - load)


def waiting(load: float, servers: int) -> float:
    """The probability that an arrival waits, by Erlang's loss formula."""
    blocked = loss(servers, load)
    return blocked / (1 - (1 - blocked) * load / servers)


def loss(servers: int, load: float) -> float:
    """Erlang's loss formula B(servers, load), by its numerically stable recursion."""
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = load * blocked / (n + load * blocked)
    return blocked
