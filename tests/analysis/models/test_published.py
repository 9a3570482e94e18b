"""Published numbers: each method gives what the books and papers print for their examples."""

import math
from collections.abc import Callable, Sequence

import pytest

from cuesta.analysis.models import closed, convolution, multi_server_queue, paced_station
from cuesta.analysis.models.least_squares import fit
from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.forms.scalability import scaled_throughput
from tests.analysis.models.oracles import mean_values, repairman
from tests.analysis.solved import solve


def network(demands: Sequence[float], think: float = 0.0, servers: Sequence[float] = ()) -> Network:
    servers = servers or [1] * len(demands)
    return Network([Station(str(n), d, m) for n, (d, m) in enumerate(zip(demands, servers, strict=True))], think)


def products(visits: Sequence[float], services: Sequence[float]) -> list[float]:
    return [visit * service for visit, service in zip(visits, services, strict=True)]


def exact(network: Network, users: int) -> float:
    return solve(network, users).throughput


JAIN = network(products([16, 10, 5], [0.125, 0.3, 0.2]), think=4)
LAZOWSKA = network([0.605, 2.1, 1.35], think=15)
BOLCH_8_3 = network(products([1, 0.4, 0.2, 0.1], [0.02, 0.2, 0.4, 0.6]))
BOLCH_8_4 = network(products([1, 0.5, 0.5, 1], [0.5, 0.6, 0.8, 1]), servers=[2, 1, 1, DELAY])
BOLCH_8_1 = network([1 / 0.8, 2 / 3 / 0.6, 0.2 / 0.4], servers=[2, DELAY, 1])
TOY = network([0.5, 1], think=1)
REPAIRMAN = network([0.03], think=3)
EIGHT_SERVERS = network([4], think=10, servers=[8])

THROUGHPUTS = [
    *[(method, JAIN, n, x) for method in (exact, mean_values)
      for n, x in ((1, 0.1), (2, 0.1754), (3, 0.2292), (4, 0.2658), (5, 0.2898), (20, 0.3332))],
    *[(method, LAZOWSKA, 3, 0.15152) for method in (exact, mean_values)],
    *[(method, BOLCH_8_3, 6, 9.920) for method in (exact, mean_values)],
    (exact, BOLCH_8_4, 3, 1.218),
    (exact, BOLCH_8_1, 3, 0.945),
    (exact, TOY, 1, 0.4),
    *[(method, REPAIRMAN, 96, 29.94191584) for method in (repairman, exact, mean_values, convolution.throughput)],
]  # fmt: skip
"""Jain, The Art of Computer Systems Performance Analysis, 1991, example 34.2; Lazowska and others, Quantitative System
Performance, 1984, p. 117; Bolch and others, Queueing Networks and Markov Chains, examples 8.1, 8.3 and 8.4."""

RESPONSES = [
    (JAIN, 20, 56.02),
    (LAZOWSKA, 3, 4.800),
    (TOY, 1, 1.5),
    (TOY, 2, 2.0),
    *[(EIGHT_SERVERS, n, r) for n, r in ((40, 10.016), (50, 15.0), (90, 35.0), (400, 190.0))],
]
"""With 8 servers the textbook recursion over marginal probabilities returns −99 s for 90 users."""


def digits(printed: float) -> float:
    """Half a unit of the last digit of a printed number."""
    text = repr(printed)
    return 0.51 * 10.0 ** -len(text.partition(".")[2])


@pytest.mark.parametrize(("method", "example", "users", "printed"), THROUGHPUTS)
def test_throughput(method: Callable[[Network, int], float], example: Network, users: int, printed: float) -> None:
    assert method(example, users) == pytest.approx(printed, abs=max(digits(printed), 5e-4 * printed))


@pytest.mark.parametrize(("example", "users", "printed"), RESPONSES)
def test_response(example: Network, users: int, printed: float) -> None:
    assert closed.response(example, users) == pytest.approx(printed, abs=max(digits(printed), 5e-4 * printed))


def test_asymptotic_bounds() -> None:
    memo = network([9.2, 8], think=120)
    assert memo.throughput_bound(20) == pytest.approx(0.109, abs=5e-4)
    assert memo.response_bound(20) == pytest.approx(64)


def test_three_servers() -> None:
    assert multi_server_queue.waiting(2, 3) == pytest.approx(0.4444, abs=5e-5)
    assert multi_server_queue.response(2, 1, 3) == pytest.approx(1.4444, abs=5e-5)


def test_scalability_law_of_specsdm91() -> None:
    """The SPEC SDM benchmark of 1991, as the R package usl fits it (Gunther, Guerrilla Capacity Planning, 2007)."""
    rows = {1: 64.9, 18: 995.9, 36: 1652.4, 72: 1853.2, 108: 1828.9, 144: 1775.0, 216: 1702.2}
    found = fit(lambda law: [scaled_throughput(n, *law) - x for n, x in rows.items()], [0.01, 1e-4, rows[1]])
    contention, coherency, efficiency = found.parameters
    assert contention == pytest.approx(0.0277285, abs=5e-8)
    assert coherency == pytest.approx(1.044e-4, abs=5e-8)
    assert efficiency == pytest.approx(89.995, abs=5e-4)
    peak = math.sqrt((1 - contention) / coherency)
    assert peak == pytest.approx(96.52, abs=5e-3)
    assert scaled_throughput(peak, *found.parameters) == pytest.approx(1884, abs=0.5)


def test_paced_station_is_open_until_the_cycle_and_then_closed() -> None:
    """By hand: 10 users every 200 ms at 10 ms are half the station's time; 25 of them would be more than all of it."""
    light, heavy = (paced_station.response(n, 0.2, Station("station", 0.01), 0.012) for n in (10, 25))
    assert light == pytest.approx(0.032)
    assert heavy == pytest.approx(0.25, rel=1e-6), "100 a second, however many are due"
