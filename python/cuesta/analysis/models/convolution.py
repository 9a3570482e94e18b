"""Exact solution by the normalization constant G, for any number of servers.

J. P. Buzen, Computational algorithms for closed queueing networks with exponential servers, CACM 16(9), 1973.

G(n) is a sum of products of positive numbers, and X(N) = G(N−1)/G(N). All are kept as logarithms, since G leaves the
range of floating-point numbers long before 1,000 users. Nothing is subtracted, so nothing cancels.

A station's sequence is D^n / (rate(1) … rate(n)), with rate(n) = min(n, m), geometric from m on. So its generating
function is a polynomial divided by 1 − (D/m)·x, and the convolution takes users × servers steps instead of users². At a
single queueing station, G(N) is one sum, of which about √N terms matter: a million users at one station of any number
of servers take milliseconds.
"""

import math
from bisect import bisect
from typing import Any

from cuesta.analysis.models.network import Network, Station

NEGLIGIBLE = 1e-18
"""A share of the largest term that no longer changes a sum."""


def solve_one_station(users: int, demand: float, delay: float, servers: float) -> tuple[float, float]:
    """Throughput and the mean queue of the only queueing station; `delay` is the rest of a cycle.

    The terms of G are unimodal, for the rate never falls: they are summed outward from the largest, each by its ratio
    to the one before, until they are negligible.
    """
    if not delay:
        return min(users, servers) / demand, users
    ratio = demand / delay
    top = bisect(range(1, users + 1), False, key=lambda n: (users - n + 1) * ratio < min(n, servers))
    total, queue, served = 1.0, float(top), min(top, servers)
    n, share = top, 1.0
    while n < users and share > NEGLIGIBLE:
        n += 1
        rate = n if n < servers else servers
        share *= (users - n + 1) * ratio / rate
        total += share
        queue += n * share
        served += rate * share
    n, share = top, 1.0
    while n > 0 and share > NEGLIGIBLE:
        share *= (n if n < servers else servers) / ((users - n + 1) * ratio)
        n -= 1
        total += share
        queue += n * share
        served += (n if n < servers else servers) * share
    return served / total / demand, queue / total


def throughput(network: Network, users: int) -> float:
    """Transactions a second."""
    import numpy as np  # noqa: PLC0415 - slow to load, and most verbs do without

    n = np.arange(users + 1)
    with np.errstate(divide="ignore"):  # without a delay, G(0) alone is not 0
        logs = np.append(0.0, np.cumsum(np.log(network.delay) - np.log(n[1:])))
    for station in network.queueing:
        if station.demand:
            logs = convolve(logs, station, n)
    return float(np.exp(logs[-2] - logs[-1]))


def convolve(logs: Any, station: Station, n: Any) -> Any:
    """Multiply by the station's polynomial, then divide by 1 − (D/m)·x: g(n) = f(n) + (D/m)·g(n−1).

    The polynomial's terms are D^k / k! · (1 − k/m) for k < m.
    """
    import numpy as np  # noqa: PLC0415 - see above

    product, log = logs, math.log(station.demand)
    for k in range(1, min(int(station.servers), len(logs))):
        term = k * log - math.lgamma(k + 1) + math.log1p(-k / station.servers)
        product = np.append(product[:k], np.logaddexp(product[k:], term + logs[:-k]))
    geometric = n * (log - math.log(station.servers))
    return np.logaddexp.accumulate(product - geometric) + geometric
