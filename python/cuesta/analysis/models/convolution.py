"""Exact solution by the normalization constant G, for any number of servers and load-dependent rates.

J. P. Buzen, Computational algorithms for closed queueing networks with exponential servers, CACM 16(9), 1973.

G(n) is a sum of products of positive numbers, and X(N) = G(N−1)/G(N). All are kept as logarithms, since G leaves the
range of floating-point numbers long before 1,000 users. Nothing is subtracted, so nothing cancels.

A station's sequence is D^n / (rate(1) … rate(n)), geometric from its last rate on. So its generating function is a
polynomial divided by 1 − (D/last)·x. If no rate exceeds the last, the polynomial's terms are not negative, and the
convolution takes users × servers steps instead of users². At a single queueing station, G(N) is one sum, of which about
√N terms matter: a million users at one station of any number of servers take milliseconds.
"""

import math
from collections.abc import Sequence
from functools import reduce

from cuesta.analysis.models.network import Network, Solution, Station, insist_on_users, solution

NEGLIGIBLE = 1e-18
"""A share of the largest term that no longer changes a sum."""
LOG_ZERO = -math.inf

Logs = list[float]
"""Logarithms by number of users, from 0."""


def solve(network: Network, users: int) -> Solution:
    insist_on_users(users)
    queueing = [station for station in network.queueing if station.demand]
    if len(queueing) == 1 and not queueing[0].rates:
        throughput, queue = solve_one_station(users, queueing[0].demand, network.delay, queueing[0].servers)
        queues = {id(queueing[0]): queue}
    else:
        throughput, lengths = solve_several_stations(network, queueing, users)
        queues = {id(station): queue for station, queue in zip(queueing, lengths, strict=True)}
    present = [queues.get(id(each), throughput * each.demand if each.is_delay else 0.0) for each in network.stations]
    return solution(network, users, throughput, present)


def normalization(network: Network, users: int) -> Logs:
    """The logarithms of G(0) … G(users)."""
    return convolve_all(network, [station for station in network.queueing if station.demand], users)


def throughput(network: Network, users: int) -> float:
    logs = normalization(network, users)
    return math.exp(logs[users - 1] - logs[users])


def solve_one_station(users: int, demand: float, delay: float, servers: float) -> tuple[float, float]:
    """Throughput and the mean queue of the only queueing station; `delay` is the rest of a cycle.

    The terms of G are unimodal, for the rate never falls: they are summed outward from the largest, each by its ratio
    to the one before, until they are negligible.
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


def solve_several_stations(network: Network, stations: Sequence[Station], users: int) -> tuple[float, list[float]]:
    """Throughput and the mean queue of each queueing station."""
    whole = convolve_all(network, stations, users)
    queues = []
    for number, station in enumerate(stations):
        others = convolve_all(network, [*stations[:number], *stations[number + 1 :]], users)
        own = station_sequence(station, users)
        shares = (own[n] + others[users - n] - whole[users] for n in range(users + 1))
        queues.append(sum(n * math.exp(each) for n, each in enumerate(shares) if each > LOG_ZERO))
    return math.exp(whole[users - 1] - whole[users]), queues


def convolve_all(network: Network, stations: Sequence[Station], users: int) -> Logs:
    """The logarithms of G(0) … G(users) of the delays and these stations."""
    return reduce(convolve_station, stations, delay_sequence(network.delay, users))


def delay_sequence(delay: float, users: int) -> Logs:
    """delay^n / n!"""
    if not delay:
        return [0.0] + [LOG_ZERO] * users
    log = math.log(delay)
    return [n * log - math.lgamma(n + 1) for n in range(users + 1)]


def station_sequence(station: Station, users: int) -> Logs:
    """D^n / (rate(1) … rate(n))"""
    log, logs = math.log(station.demand), [0.0]
    for n in range(1, users + 1):
        logs.append(logs[-1] + log - math.log(station.rate(n)))
    return logs


def convolve_station(before: Logs, station: Station) -> Logs:
    rates, users = [station.rate(n) for n in range(1, len(before))], len(before) - 1
    own = station_sequence(station, users)
    last = station.rate(users)
    if any(rate > last for rate in rates):
        return [log_sum([own[k] + before[n - k] for k in range(n + 1)]) for n in range(users + 1)]
    return divide_by_geometric(multiply_by_polynomial(before, own, rates, last), math.log(station.demand / last))


def multiply_by_polynomial(before: Logs, own: Logs, rates: Sequence[float], last: float) -> Logs:
    """Multiply by the station's polynomial: own(n) − (D/last)·own(n−1) = own(n)·(1 − rate(n)/last)."""
    terms = [(0, 0.0)]
    terms += [(n, own[n] + math.log1p(-rate / last)) for n, rate in enumerate(rates, 1) if rate < last]
    if len(terms) == 1:
        return before
    return [log_sum([term + before[n - k] for k, term in terms if k <= n]) for n in range(len(before))]


def divide_by_geometric(logs: Logs, ratio: float) -> Logs:
    """Divide by 1 − e^ratio·x, by the recursion g(n) = f(n) + e^ratio·g(n−1)."""
    result = [logs[0]]
    for each in logs[1:]:
        low, high = sorted((each, ratio + result[-1]))
        result.append(high + math.log1p(math.exp(low - high)) if high > LOG_ZERO else LOG_ZERO)
    return result


def log_sum(logs: Sequence[float]) -> float:
    most = max(logs)
    return most + math.log(sum(math.exp(each - most) for each in logs)) if most > LOG_ZERO else LOG_ZERO
