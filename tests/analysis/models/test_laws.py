"""What holds in every closed network, whatever its stations."""

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuesta.analysis.models import asymptotic_bounds, closed, convolution, exact_mva, multi_server_queue, paced_station
from cuesta.analysis.models.network import DELAY, Network, Solution, Station
from cuesta.errors import InputError, RefusedError
from tests.analysis.models.oracles import balanced_job_bounds, geometric_bounds, multi_class, repairman, schweitzer
from tests.analysis.models.oracles.multi_class import UserClass

demands = st.floats(0.001, 10)
servers = st.sampled_from([1, 1, 2, 3, 8, DELAY])
stations = st.lists(st.builds(Station, st.just("station"), demands, servers), min_size=1, max_size=4)
networks = st.builds(Network, stations, st.floats(0, 30))
single = st.lists(
    st.builds(Station, st.just("station"), demands, st.sampled_from([1, 1, DELAY])), min_size=1, max_size=4
)
simple = st.builds(Network, single, st.floats(0, 30))
populations = st.integers(1, 60)


def close(a: Solution, b: Solution) -> bool:
    return a.throughput == pytest.approx(b.throughput, rel=1e-9) and a.response == pytest.approx(b.response, rel=1e-6)


@given(networks, populations)
def test_the_response_alone_is_that_of_the_solution(network: Network, users: int) -> None:
    assert closed.response(network, users) == pytest.approx(closed.solve(network, users).response, rel=1e-6, abs=1e-6)


@given(networks, populations)
def test_little_and_utilization_law(network: Network, users: int) -> None:
    found = closed.solve(network, users)
    held = sum(each.queue for each in found.stations) + found.throughput * network.think
    assert held == pytest.approx(users, rel=1e-8)
    assert found.response == pytest.approx(users / found.throughput - network.think, rel=1e-6, abs=1e-8)
    for station, each in zip(network.stations, found.stations, strict=True):
        assert each.queue == pytest.approx(found.throughput * each.residence, rel=1e-9)
        assert each.residence >= station.demand * (1 - 1e-9)
        if not station.is_delay:
            assert each.utilization == pytest.approx(found.throughput * station.demand / station.servers)
            assert each.utilization <= 1 + 1e-9


@given(networks, populations, st.randoms(use_true_random=False))
def test_the_order_of_stations_changes_nothing(network: Network, users: int, random) -> None:  # type: ignore[no-untyped-def]
    order = list(range(len(network.stations)))
    random.shuffle(order)
    permuted = Network([network.stations[number] for number in order], network.think)
    before, after = closed.solve(network, users), closed.solve(permuted, users)
    assert close(before, after)
    assert [after.stations[place].queue for place in range(len(order))] == pytest.approx(
        [before.stations[number].queue for number in order], rel=1e-6, abs=1e-9
    )


@given(networks, populations, st.data())
def test_more_servers_never_lower_throughput(network: Network, users: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(network.stations) - 1))
    station = network.stations[number]
    more = Station(station.name, station.demand, station.servers + data.draw(st.integers(1, 5)))
    faster = Network([*network.stations[:number], more, *network.stations[number + 1 :]], network.think)
    assert closed.solve(faster, users).throughput >= closed.solve(network, users).throughput * (1 - 1e-9)


@given(networks, populations, demands, st.floats(0.01, 0.99))
def test_a_delay_may_be_split(network: Network, users: int, delay: float, part: float) -> None:
    pieces = [Station("one", delay * part, DELAY), Station("other", delay * (1 - part), DELAY)]
    whole = Network([*network.stations, Station("delay", delay, DELAY)], network.think)
    split = Network([*network.stations, *pieces], network.think)
    thought = Network(network.stations, network.think + delay)
    assert close(closed.solve(whole, users), closed.solve(split, users))
    assert closed.solve(thought, users).throughput == pytest.approx(closed.solve(whole, users).throughput, rel=1e-9)


@given(simple, populations)
def test_exact_means_lie_within_bounds(network: Network, users: int) -> None:
    exact = exact_mva.solve(network, users)
    for method in (balanced_job_bounds, geometric_bounds):
        bounds = method.bounds(network, users)
        assert bounds.least_throughput * (1 - 1e-9) <= exact.throughput <= bounds.most_throughput * (1 + 1e-9)
        assert bounds.least_response <= exact.response * (1 + 1e-9) + 1e-9
        assert bounds.most_response >= exact.response * (1 - 1e-9) - 1e-9


@given(networks, populations)
def test_exact_means_lie_within_asymptotic_bounds(network: Network, users: int) -> None:
    bounds = asymptotic_bounds.bounds(network, users)
    found = closed.solve(network, users)
    assert found.throughput <= bounds.most_throughput * (1 + 1e-9)
    assert found.response >= bounds.least_response * (1 - 1e-6) - 1e-8


@given(simple, populations)
def test_convolution_agrees_with_mean_value_analysis(network: Network, users: int) -> None:
    assert close(convolution.solve(network, users), exact_mva.solve(network, users))


@given(networks, st.integers(1, 25))
def test_rates_by_queue_agree_with_servers(network: Network, users: int) -> None:
    """The general convolution, of users² steps, agrees with the one of users × servers."""
    tables = [
        Station(each.name, each.demand, rates=(*map(float, range(1, users + 1)), 0.5))
        if each.is_delay
        else Station(each.name, each.demand, rates=tuple(each.rate(n) for n in range(1, users + 2)))
        for each in network.stations
    ]
    assert close(convolution.solve(Network(tables, network.think), users), closed.solve(network, users))


@settings(deadline=None)
@given(st.floats(0.01, 1), st.floats(0, 20), populations)
def test_repairman_agrees_with_mean_value_analysis(demand: float, think: float, users: int) -> None:
    network = Network([Station("cpu", demand), Station("line", 0.1, DELAY)], think)
    assert close(repairman.solve(network, users), exact_mva.solve(network, users))


@settings(deadline=None)
@given(simple, st.integers(1, 12), st.integers(1, 12))
def test_classes_of_equal_users_are_one_population(network: Network, some: int, others: int) -> None:
    demands = [each.demand for each in network.stations]
    stations = [str(number) for number in range(len(demands))]
    delays = [name for name, each in zip(stations, network.stations, strict=True) if each.is_delay]
    classes = [UserClass(name, users, demands, network.think) for name, users in (("a", some), ("b", others))]
    found = multi_class.solve(stations, classes, delays)
    exact = exact_mva.solve(network, some + others)
    assert found["a"].throughput + found["b"].throughput == pytest.approx(exact.throughput, rel=1e-9)
    assert found["a"].response == pytest.approx(exact.response, rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(simple, st.integers(2, 200))
def test_the_approximation_is_near(network: Network, users: int) -> None:
    assert schweitzer.solve(network, users).throughput == pytest.approx(
        exact_mva.solve(network, users).throughput, rel=0.2
    )


def test_one_closed_server_far_below_saturation_is_an_open_queue() -> None:
    """10,000 users of whom each asks rarely arrive nearly at random: M/M/3."""
    found = closed.solve(Network([Station("cpu", 1.0, 3)], think=4998.6), 10_000)
    assert found.response == pytest.approx(multi_server_queue.solve(2, 1, 3).response, rel=2e-3)


def test_many_users_take_no_longer_than_proportional() -> None:
    """100,000 users at one station of 8 servers: time is proportional to users, not to their square."""
    network = Network([Station("cpu", 4.0, 8)], think=10)

    def seconds(users: int) -> float:
        begun = time.perf_counter()
        convolution.solve(network, users)
        return time.perf_counter() - begun

    short, long = (min(seconds(users) for _ in range(3)) for users in (10_000, 100_000))
    assert long / short < 40
    assert convolution.solve(network, 100_000).response == pytest.approx(100_000 * 4 / 8 - 10, rel=1e-9)


@given(st.integers(1, 400))
def test_paced_users_never_get_more_than_they_ask_for(users: int) -> None:
    found, more = (paced_station.solve(n, 0.2, 0.006, 0.0125) for n in (users, users + 1))
    assert found.throughput <= users / 0.2 * (1 + 1e-12)
    assert found.utilization <= 1 + 1e-9
    assert more.response >= found.response * (1 - 1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Station("cpu", -0.1),
        lambda: Station("cpu", math.nan),
        lambda: Station("cpu", 1, 1.5),
        lambda: Station("cpu", 1, 0),
        lambda: Station("cpu", 1, rates=(0.0,)),
        lambda: Station("cpu", 1, 2, is_fixed=True),
        lambda: Network([Station("cpu", 1)], -1),
        lambda: Network([], 0),
        lambda: closed.solve(Network([Station("cpu", 1)]), 0),
        lambda: exact_mva.solve(Network([Station("cpu", 1, 2)]), 3),
        lambda: geometric_bounds.bounds(Network([Station("cpu", 1, 2)]), 3),
        lambda: paced_station.solve(3, 0, 0.1),
    ],
)
def test_what_is_no_network_is_refused(wrong) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError):
        wrong()


def test_what_cannot_be_told_is_refused() -> None:
    with pytest.raises(RefusedError, match="no steady state"):
        multi_server_queue.solve(4, 1, 3)
