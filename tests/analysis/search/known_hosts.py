"""Hosts of known capacity, each with its objective `p95 < limit` and the largest number of users that meets it.

Capacities come from theory where the network has a product form: an arriving transaction sees the equilibrium of one
user fewer (arrival theorem), and then waits for an Erlang time. The host of fixed service times is simulated for two
days.
"""

import math
from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from scipy.integrate import quad
from scipy.stats import gamma

from tests.analysis.search.closed_host import ClosedHost

CLIFF, FAST, SLOW = 24, 0.2, 0.32
"""Up to this number of users a transaction takes the one time, with more the other."""
MOST = 64
"""More users than any host here has the capacity for."""
TWO_DAYS = 172_800.0


@dataclass(frozen=True)
class KnownHost:
    host: ClosedHost
    limit: float
    """Seconds that 95 % of responses should not exceed."""
    meets: Callable[[int], bool]
    """Whether a number of users meets the objective in the long run."""

    def capacity(self) -> int:
        return capacity(self)


@cache
def capacity(known: KnownHost) -> int:
    return bisect(range(1, MOST), False, key=lambda users: not known.meets(users))


def by_theory(mean: float, limit: float, servers: int = 1, delay: float = 0.0) -> Callable[[int], bool]:
    return lambda users: beyond(users, mean, limit - delay, servers, 10.0 + delay) <= 0.05


def beyond(users: int, mean: float, response: float, servers: int, away: float) -> float:
    """The probability that a transaction of one of `users` is longer at the servers than `response`; users are `away`
    for so long between two transactions."""
    others, weights = users - 1, [1.0]
    for number in range(1, users):
        weights.append(weights[-1] * (others - number + 1) / away * mean / min(number, servers))
    tails = (
        sojourn_beyond(max(ahead - servers + 1, 0), mean, response, servers) * weight
        for ahead, weight in enumerate(weights)
    )
    return sum(tails) / sum(weights)


@cache
def sojourn_beyond(departures: int, mean: float, response: float, servers: int) -> float:
    """The probability that some departures from busy servers and then an own service take longer than `response`."""
    if servers == 1:
        return float(gamma.sf(response, departures + 1, scale=mean))
    if not departures:
        return math.exp(-response / mean)
    wait = gamma(departures, scale=mean / servers)
    served, _ = quad(lambda time: wait.pdf(time) * math.exp(-(response - time) / mean), 0, response)
    return float(wait.sf(response) + served)


def at_the_cliff(users: int) -> bool:
    return by_theory(SLOW if users > CLIFF else FAST, 2.0)(users)


def simulated(host: ClosedHost, limit: float) -> Callable[[int], bool]:
    return lambda users: host.p95(users, users, 600.0, TWO_DAYS) <= limit


FIXED = ClosedHost("fixed", 0.305)
BEYOND = ({"above": CLIFF, "of": "users", "speed": FAST / SLOW},)

HOSTS = {
    "one server": KnownHost(ClosedHost("exp", 0.245), 2.0, by_theory(0.245, 2.0)),
    "four servers": KnownHost(ClosedHost("exp", 1.1, 4), 4.0, by_theory(1.1, 4.0, 4)),
    "a fixed delay": KnownHost(ClosedHost("exp", 0.22, 1, 0.5), 2.0, by_theory(0.22, 2.0, 1, 0.5)),
    "a cliff": KnownHost(ClosedHost("exp", FAST, speeds=BEYOND), 2.0, at_the_cliff),
    "fixed service": KnownHost(FIXED, 2.0, simulated(FIXED, 2.0)),
}
