"""Published numbers: each method gives what the books and papers print for their examples."""

import math
from collections.abc import Callable, Sequence

import pytest

from cuesta.analysis.models import asymptotic_bounds, closed, convolution, exact_mva, multi_server_queue, paced_station
from cuesta.analysis.models.least_squares import fit
from cuesta.analysis.models.network import DELAY, Network, Solution, Station
from cuesta.analysis.models.scalability_law import ScalabilityLaw
from tests.analysis.models.oracles import geometric_bounds, multi_class, repairman, schweitzer
from tests.analysis.models.oracles.multi_class import UserClass

Method = Callable[[Network, int], Solution]


def network(demands: Sequence[float], think: float = 0.0, servers: Sequence[float] = ()) -> Network:
    servers = servers or [1] * len(demands)
    return Network([Station(str(n), d, m) for n, (d, m) in enumerate(zip(demands, servers, strict=True))], think)


def products(visits: Sequence[float], services: Sequence[float]) -> list[float]:
    return [visit * service for visit, service in zip(visits, services, strict=True)]


JAIN = network(products([16, 10, 5], [0.125, 0.3, 0.2]), think=4)
LAZOWSKA = network([0.605, 2.1, 1.35], think=15)
BOLCH_8_3 = network(products([1, 0.4, 0.2, 0.1], [0.02, 0.2, 0.4, 0.6]))
BOLCH_8_4 = network(products([1, 0.5, 0.5, 1], [0.5, 0.6, 0.8, 1]), servers=[2, 1, 1, DELAY])
BOLCH_8_1 = network([1 / 0.8, 2 / 3 / 0.6, 0.2 / 0.4], servers=[2, DELAY, 1])
TOY = network([0.5, 1], think=1)
REPAIRMAN = network([0.03], think=3)
EIGHT_SERVERS = network([4], think=10, servers=[8])

THROUGHPUTS = [
    *[(method, JAIN, n, x) for method in (exact_mva.solve, convolution.solve)
      for n, x in ((1, 0.1), (2, 0.1754), (3, 0.2292), (4, 0.2658), (5, 0.2898), (20, 0.3332))],
    (schweitzer.solve, LAZOWSKA, 3, 0.1510),
    (exact_mva.solve, LAZOWSKA, 3, 0.15152),
    *[(method, BOLCH_8_3, 6, 9.920) for method in (exact_mva.solve, convolution.solve)],
    (closed.solve, BOLCH_8_4, 3, 1.218),
    (closed.solve, BOLCH_8_1, 3, 0.945),
    (exact_mva.solve, TOY, 1, 0.4),
    *[(method, REPAIRMAN, 96, 29.94191584) for method in (repairman.solve, exact_mva.solve, convolution.solve)],
]  # fmt: skip
"""Jain, The Art of Computer Systems Performance Analysis, 1991, example 34.2; Lazowska and others, Quantitative System
Performance, 1984, p. 117; Bolch and others, Queueing Networks and Markov Chains, examples 8.1, 8.3 and 8.4."""

RESPONSES = [
    (exact_mva.solve, JAIN, 20, 56.02),
    (schweitzer.solve, LAZOWSKA, 3, 4.87),
    (exact_mva.solve, LAZOWSKA, 3, 4.800),
    (exact_mva.solve, TOY, 1, 1.5),
    (exact_mva.solve, TOY, 2, 2.0),
    *[(method, EIGHT_SERVERS, n, r) for method in (closed.solve, convolution.solve)
      for n, r in ((40, 10.016), (50, 15.0), (90, 35.0), (400, 190.0))],
]  # fmt: skip
"""With 8 servers the textbook recursion over marginal probabilities returns −99 s for 90 users."""

QUEUES = [
    (exact_mva.solve, JAIN, 20, [1.991, 16.177, 0.500]),
    (convolution.solve, JAIN, 20, [1.991, 16.177, 0.500]),
    (schweitzer.solve, LAZOWSKA, 3, [0.0973, 0.4021, 0.2359]),
    (exact_mva.solve, BOLCH_8_3, 6, [0.244, 2.261, 2.261, 1.234]),
    (closed.solve, BOLCH_8_4, 3, [0.624, 0.473, 0.686, 1.217]),
    (closed.solve, BOLCH_8_1, 3, [1.290, 1.050, 0.660]),
]


def digits(printed: float) -> float:
    """Half a unit of the last digit of a printed number."""
    text = repr(printed)
    return 0.51 * 10.0 ** -len(text.partition(".")[2])


@pytest.mark.parametrize(("method", "of", "users", "printed"), THROUGHPUTS)
def test_throughput(method: Method, of: Network, users: int, printed: float) -> None:
    assert method(of, users).throughput == pytest.approx(printed, abs=max(digits(printed), 5e-4 * printed))


@pytest.mark.parametrize(("method", "of", "users", "printed"), RESPONSES)
def test_response(method: Method, of: Network, users: int, printed: float) -> None:
    assert method(of, users).response == pytest.approx(printed, abs=max(digits(printed), 5e-4 * printed))


@pytest.mark.parametrize(("method", "of", "users", "printed"), QUEUES)
def test_queues(method: Method, of: Network, users: int, printed: Sequence[float]) -> None:
    assert [each.queue for each in method(of, users).stations] == pytest.approx(printed, abs=6e-4)


def test_times_and_utilizations_of_visits() -> None:
    jain = exact_mva.solve(JAIN, 20)
    visits = [each.residence / visits for each, visits in zip(jain.stations, (16, 10, 5), strict=True)]
    assert visits == pytest.approx([0.373, 4.854, 0.300], abs=5e-4)
    assert [each.utilization for each in exact_mva.solve(BOLCH_8_3, 6).stations] == pytest.approx(
        [0.198, 0.794, 0.794, 0.595], abs=6e-4
    )
    several = closed.solve(BOLCH_8_4, 3)
    visits = [each.residence / visits for each, visits in zip(several.stations, (1, 0.5, 0.5, 1), strict=True)]
    assert visits == pytest.approx([0.512, 0.776, 1.127, 1], abs=1e-3)  # the book divides rounded numbers


def test_normalization_constants() -> None:
    found = [math.exp(each) for each in convolution.normalization(BOLCH_8_1, 3)]
    assert found == pytest.approx([1, 2.861, 4.218, 4.465], abs=2e-3)  # the visits are printed with three digits


def test_asymptotic_bounds() -> None:
    bounds = asymptotic_bounds.bounds(network([9.2, 8], think=120), 20)
    assert bounds.most_throughput == pytest.approx(0.109, abs=5e-4)
    assert bounds.least_response == pytest.approx(64)


@pytest.mark.parametrize(
    ("think", "users", "least", "most"),
    [
        (0, 2, 4.3040, 4.3174), (0, 5, 6.6859, 6.7524), (0, 10, 8.1521, 8.2690), (0, 20, 9.0947, 9.2431),
        (0, 80, 9.8233, 9.8765), (1, 2, 1.4319, 1.5195), (1, 5, 3.3432, 3.5582), (1, 10, 5.7569, 6.1410),
        (1, 20, 8.0856, 8.6467), (1, 80, 9.7147, 9.8594),
    ],
)  # fmt: skip
def test_geometric_bounds(think: float, users: int, least: float, most: float) -> None:
    """Casale, Muntz and Serazzi, IEEE Transactions on Computers 57(6), 2008, tables IV and V."""
    of = network([0.1, 0.1, 0.09, 0.08], think)
    bounds = geometric_bounds.bounds(of, users)
    assert [bounds.least_throughput, bounds.most_throughput] == pytest.approx([least, most], abs=1.1e-4)
    assert bounds.least_throughput <= exact_mva.solve(of, users).throughput <= bounds.most_throughput


def test_two_classes() -> None:
    """Lazowska and others, Quantitative System Performance, 1984, §7.4."""
    found = multi_class.solve(["cpu", "disk"], [UserClass("a", 1, [1, 3]), UserClass("b", 1, [2, 4])])
    assert [found[name].throughput for name in "ab"] == pytest.approx([3 / 19, 2 / 19])
    queues = [each.queue for name in "ab" for each in found[name].stations]
    assert queues == pytest.approx([4 / 19, 15 / 19, 5 / 19, 14 / 19])


def test_two_classes_that_think() -> None:
    """H. D. Schwetman, Implementing the mean value algorithm, Purdue University, 1982."""
    found = multi_class.solve(["cpu"], [UserClass("a", 15, [0.025], 1), UserClass("b", 5, [0.5], 15)])
    (a,), (b,) = found["a"].stations, found["b"].stations
    assert [a.utilization, b.utilization, a.queue, b.queue] == pytest.approx([0.358, 0.157, 0.677, 0.293], abs=6e-4)
    assert [found[name].throughput for name in "ab"] == pytest.approx([14.323, 0.314], abs=6e-4)
    assert [a.residence, b.residence] == pytest.approx([0.047, 0.934], abs=6e-4)


def test_two_classes_at_a_cpu_and_four_disks() -> None:
    """Checked with JMVA by the authors of the Octave package queueing."""
    stations = ["terminals", "cpu", "disk 1", "disk 2", "disk 3", "disk 4"]
    classes = [
        UserClass("a", 40, [5, 0.010 / 0.9] + [0.035 / 3.6] * 4),
        UserClass("b", 4, [10, 0.100 / 0.05] + [0.035 * 5] * 4),
    ]
    found = multi_class.solve(stations, classes, delays=["terminals"])
    assert [found[name].throughput for name in "ab"] == pytest.approx([7.891588, 0.277270], abs=1e-6)
    assert [each.queue for each in found["a"].stations][:3] == pytest.approx([39.457941, 0.192262, 0.087449], abs=1e-5)
    assert [each.queue for each in found["b"].stations][:3] == pytest.approx([2.772704, 1.008198, 0.054775], abs=1e-5)


def test_three_classes_against_the_normalization_constant() -> None:
    """A. O. Allen, Introduction to Computer Performance Analysis with Mathematica, 1994, example 6.3.4."""
    users, thinks = (5, 10, 5), (20.0, 30.0, 0.0)
    demands = [(0.5, 0.04, 0.06), (0.4, 0.2, 0.3), (1.2, 0.05, 0.06)]
    found = multi_class.solve(
        ["cpu", "disk 1", "disk 2"],
        [UserClass(str(n), *each) for n, each in enumerate(zip(users, demands, thinks, strict=True))],
    )
    whole = constant(users, demands, thinks)
    for number in range(3):
        less = tuple(count - (each == number) for each, count in enumerate(users))
        expected = constant(less, demands, thinks) / whole
        assert found[str(number)].throughput == pytest.approx(expected, rel=1e-9)


def constant(users: tuple[int, ...], demands: Sequence[Sequence[float]], thinks: Sequence[float]) -> float:
    """G of several classes by convolution: G_k(n) = G_{k−1}(n) + Σ D_ck·G_k(n − 1_c). No mean is computed."""
    states: list[tuple[int, ...]] = [
        (a, b, c) for a in range(users[0] + 1) for b in range(users[1] + 1) for c in range(users[2] + 1)
    ]
    values = {n: math.prod(z**i / math.factorial(i) for z, i in zip(thinks, n, strict=True)) * 1.0 for n in states}
    for station in range(3):
        for n in states:
            less = ((*n[:c], n[c] - 1, *n[c + 1 :]) for c in range(3))
            values[n] += sum(demands[c][station] * values.get(m, 0.0) for c, m in enumerate(less))
    return values[users]


def test_three_servers() -> None:
    found = multi_server_queue.solve(2, 1, 3)
    assert [found.utilization, found.waiting, found.response] == pytest.approx([2 / 3, 0.4444, 1.4444], abs=5e-5)


def test_scalability_law_of_specsdm91() -> None:
    """The SPEC SDM benchmark of 1991, as the R package usl fits it (Gunther, Guerrilla Capacity Planning, 2007)."""
    rows = {1: 64.9, 18: 995.9, 36: 1652.4, 72: 1853.2, 108: 1828.9, 144: 1775.0, 216: 1702.2}
    found = fit(lambda of: [ScalabilityLaw(*of).throughput(n) - x for n, x in rows.items()], [0.01, 1e-4, rows[1]])
    law = ScalabilityLaw(*found.parameters)
    assert law.contention == pytest.approx(0.0277285, abs=5e-8)
    assert law.coherency == pytest.approx(1.044e-4, abs=5e-8)
    assert law.efficiency == pytest.approx(89.995, abs=5e-4)
    peak = math.sqrt((1 - law.contention) / law.coherency)
    assert peak == pytest.approx(96.52, abs=5e-3)
    assert law.throughput(peak) == pytest.approx(1884, abs=0.5)


def test_paced_station_is_open_until_the_cycle_and_then_closed() -> None:
    """By hand: 10 users every 200 ms at 10 ms are half the station's time; 25 of them would be more than all of it."""
    light, heavy = (paced_station.solve(n, 0.2, 0.01, 0.012) for n in (10, 25))
    assert (light.response, light.throughput, light.utilization) == pytest.approx((0.032, 50, 0.5))
    assert light.is_open
    assert not heavy.is_open
    assert heavy.throughput == pytest.approx(100, rel=1e-9)
    assert heavy.response == pytest.approx(0.25, rel=1e-6)
    assert paced_station.saturation(0.2, 0.01) == pytest.approx(20)
