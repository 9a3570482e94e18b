"""What holds in every closed network, whatever its stations."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.models import closed, convolution, multi_server_queue, paced_station
from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.errors import InputError
from tests.analysis.models.oracles import mean_values, repairman
from tests.analysis.solved import Solved, solve

demands = st.floats(0.001, 10)
servers = st.sampled_from([1, 1, 2, 3, 8, DELAY])
stations = st.lists(st.builds(Station, st.just("station"), demands, servers), min_size=1, max_size=4)
networks = st.builds(Network, stations, st.floats(0, 30))
single = st.lists(
    st.builds(Station, st.just("station"), demands, st.sampled_from([1, 1, DELAY])), min_size=1, max_size=4
)
simple = st.builds(Network, single, st.floats(0, 30))
populations = st.integers(1, 60)


def close(a: Solved, b: Solved) -> bool:
    return a.throughput == pytest.approx(b.throughput, rel=1e-9) and a.response == pytest.approx(b.response, rel=1e-6)


@given(networks, populations, st.randoms(use_true_random=False))
def test_the_order_of_stations_changes_nothing(network: Network, users: int, random) -> None:  # type: ignore[no-untyped-def]
    permuted = Network(random.sample(network.stations, len(network.stations)), network.think)
    assert close(solve(network, users), solve(permuted, users))


@given(networks, populations, st.data())
def test_more_servers_never_lower_throughput(network: Network, users: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(network.stations) - 1))
    station = network.stations[number]
    more = Station(station.name, station.demand, station.servers + data.draw(st.integers(1, 5)))
    faster = Network([*network.stations[:number], more, *network.stations[number + 1 :]], network.think)
    assert solve(faster, users).throughput >= solve(network, users).throughput * (1 - 1e-9)


@given(networks, populations, demands, st.floats(0.01, 0.99))
def test_a_delay_may_be_split(network: Network, users: int, delay: float, part: float) -> None:
    pieces = [Station("one", delay * part, DELAY), Station("other", delay * (1 - part), DELAY)]
    whole = Network([*network.stations, Station("delay", delay, DELAY)], network.think)
    split = Network([*network.stations, *pieces], network.think)
    thought = Network(network.stations, network.think + delay)
    assert close(solve(whole, users), solve(split, users))
    assert solve(thought, users).throughput == pytest.approx(solve(whole, users).throughput, rel=1e-9)


@given(networks, populations)
def test_exact_means_lie_within_asymptotic_bounds(network: Network, users: int) -> None:
    exact = solve(network, users)
    assert exact.throughput <= network.throughput_bound(users) * (1 + 1e-9)
    assert exact.response >= network.response_bound(users) * (1 - 1e-6) - 1e-8
    assert exact.response >= network.least_response * (1 - 1e-6) - 1e-8


@given(simple, populations)
def test_other_exact_methods_agree(network: Network, users: int) -> None:
    """Also where a single station is solved by itself."""
    by_values = mean_values(network, users)
    assert solve(network, users).throughput == pytest.approx(by_values, rel=1e-9)
    assert convolution.throughput(network, users) == pytest.approx(by_values, rel=1e-9)
    if len(network.queueing) == 1:
        assert repairman(network, users) == pytest.approx(by_values, rel=1e-9)


@given(networks, populations)
def test_one_station_of_several_servers_by_itself_agrees_with_the_convolution(network: Network, users: int) -> None:
    own = Network(network.queueing[:1], network.delay or 1.0)
    assert solve(own, users).throughput == pytest.approx(convolution.throughput(own, users), rel=1e-9)


def test_one_closed_server_far_below_saturation_is_an_open_queue() -> None:
    """10,000 users of whom each asks rarely arrive nearly at random: M/M/3."""
    rare = Network([Station("cpu", 1.0, 3)], think=4998.6)
    assert closed.response(rare, 10_000) == pytest.approx(multi_server_queue.response(2, 1, 3), rel=2e-3)


def test_a_million_users_are_solved() -> None:
    """At one station of 8 servers, in time proportional to users: to their square, the test would not end."""
    network = Network([Station("cpu", 4.0, 8)], think=10)
    assert convolution.throughput(network, 1_000_000) == pytest.approx(8 / 4, rel=1e-9)
    assert closed.response(network, 100_000) == pytest.approx(100_000 * 4 / 8 - 10, rel=1e-9)


@given(st.integers(1, 400))
def test_paced_users_never_get_more_than_they_ask_for(users: int) -> None:
    station = Station("station", 0.006)
    response, more = (paced_station.response(n, 0.2, station, 0.0125) for n in (users, users + 1))
    throughput = users / max(response, 0.2)
    assert throughput * station.demand <= 1 + 1e-9
    assert more >= response * (1 - 1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Station("cpu", -0.1),
        lambda: Station("cpu", math.nan),
        lambda: Station("cpu", 1, 1.5),
        lambda: Station("cpu", 1, 0),
        lambda: Station("cpu", 1, 2, is_fixed=True),
        lambda: Network([Station("cpu", 1)], -1),
        lambda: Network([], 0),
        lambda: closed.response(Network([Station("cpu", 1)]), 0),
        lambda: Network([Station("cpu", 1)]).response_bound(0),
    ],
)
def test_what_is_no_network_is_refused(wrong) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError):
        wrong()
