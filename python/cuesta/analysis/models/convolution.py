"""Exact solution by the normalization constant G, for any number of servers and rates that depend on the queue.

J. P. Buzen, Computational algorithms for closed queueing networks with exponential servers, CACM 16(9), 1973.

G(n) is a sum of products of positive numbers, and X(N) = G(N−1)/G(N). All are kept as logarithms, since G leaves the
range of floating-point numbers long before 1,000 users. Nothing is subtracted, so nothing cancels.

A station's sequence is D^n / (rate(1) … rate(n)), geometric from its last rate on. So its generating function is a
polynomial divided by 1 − (D/last)·x. If no rate exceeds the last, the polynomial's terms are not negative: the station
is then convolved in users × servers steps instead of users². At a single queueing station, G(N) is one sum, of
whose terms about √N matter: a million users at one station of any number of servers take milliseconds.
"""

import math
from collections.abc import Sequence
from functools import reduce

from cuesta.analysis.models.network import Network, Solution, Station, insist_on_users, solution

NEGLIGIBLE = 1e-18
"""A share of the largest term that no longer changes a sum."""
NOTHING = -math.inf
"""The logarithm of zero."""

Logs = list[float]
"""Logarithms by number of users, from 0."""


def solve(network: Network, users: int) -> Solution:
    """The exact means for a number of users."""
    insist_on_users(users)
    queueing = [station for station in network.queueing if station.demand]
    if len(queueing) == 1 and not queueing[0].rates:
        throughput, queue = of_one_station(users, queueing[0].demand, network.delay, queueing[0].servers)
        queues = {id(queueing[0]): queue}
    else:
        throughput, lengths = of_several_stations(network, queueing, users)
        queues = {id(station): queue for station, queue in zip(queueing, lengths, strict=True)}
    present = [queues.get(id(each), throughput * each.demand if each.is_delay else 0.0) for each in network.stations]
    return solution(network, users, throughput, present)


def normalization(network: Network, users: int) -> Logs:
    """The logarithms of G(0) … G(users)."""
    return combined(network, [station for station in network.queueing if station.demand], users)


def throughput(network: Network, users: int) -> float:
    """Transactions a second."""
    logs = normalization(network, users)
    return math.exp(logs[users - 1] - logs[users])


def of_one_station(users: int, demand: float, delay: float, servers: float) -> tuple[float, float]:
    """Throughput, and the mean queue of the only station at which transactions wait; `delay` is the rest of a cycle.

    The terms of G rise to a largest one and fall, for the rate never falls. Only those that change the sum are added,
    each from the one beside it.
    """
    if not delay:
        return min(users, servers) / demand, users
    ratio = demand / delay
    top, beyond = 0, users + 1
    while beyond - top > 1:
        n = (top + beyond) // 2
        top, beyond = (n, beyond) if (users - n + 1) * ratio >= min(n, servers) else (top, n)
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


def of_several_stations(network: Network, stations: Sequence[Station], users: int) -> tuple[float, list[float]]:
    """Throughput, and the mean queue of each station at which transactions wait."""
    whole = combined(network, stations, users)
    queues = []
    for number, station in enumerate(stations):
        others = combined(network, [*stations[:number], *stations[number + 1 :]], users)
        own = sequence(station, users)
        shares = (own[n] + others[users - n] - whole[users] for n in range(users + 1))
        queues.append(sum(n * math.exp(each) for n, each in enumerate(shares) if each > NOTHING))
    return math.exp(whole[users - 1] - whole[users]), queues


def combined(network: Network, stations: Sequence[Station], users: int) -> Logs:
    """The logarithms of G(0) … G(users) of the delays and these stations."""
    return reduce(convolved, stations, delays(network.delay, users))


def delays(delay: float, users: int) -> Logs:
    """The sequence of all delays: delay^n / n!."""
    if not delay:
        return [0.0] + [NOTHING] * users
    log = math.log(delay)
    return [n * log - math.lgamma(n + 1) for n in range(users + 1)]


def sequence(station: Station, users: int) -> Logs:
    """A station's own sequence: D^n / (rate(1) … rate(n))."""
    log, logs = math.log(station.demand), [0.0]
    for n in range(1, users + 1):
        logs.append(logs[-1] + log - math.log(station.rate(n)))
    return logs


def convolved(before: Logs, station: Station) -> Logs:
    """Add a station to a network."""
    rates, users = [station.rate(n) for n in range(1, len(before))], len(before) - 1
    own = sequence(station, users)
    last = station.rate(users)
    if any(rate > last for rate in rates):
        return [added([own[k] + before[n - k] for k in range(n + 1)]) for n in range(users + 1)]
    return geometric(numerator(before, own, rates, last), math.log(station.demand / last))


def numerator(before: Logs, own: Logs, rates: Sequence[float], last: float) -> Logs:
    """Multiply by the station's polynomial: own(n) − (D/last)·own(n−1) = own(n)·(1 − rate(n)/last)."""
    terms = [(0, 0.0)]
    terms += [(n, own[n] + math.log1p(-rate / last)) for n, rate in enumerate(rates, 1) if rate < last]
    if len(terms) == 1:
        return before
    return [added([term + before[n - k] for k, term in terms if k <= n]) for n in range(len(before))]


def geometric(logs: Logs, ratio: float) -> Logs:
    """Divide by 1 − e^ratio·x: each term adds the one before it, times the ratio."""
    result = [logs[0]]
    for each in logs[1:]:
        low, high = sorted((each, ratio + result[-1]))
        result.append(high + math.log1p(math.exp(low - high)) if high > NOTHING else NOTHING)
    return result


def added(logs: Sequence[float]) -> float:
    """The logarithm of a sum of exponentials."""
    most = max(logs)
    return most + math.log(sum(math.exp(each - most) for each in logs)) if most > NOTHING else NOTHING
