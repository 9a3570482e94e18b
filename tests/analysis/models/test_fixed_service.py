"""One server whose services all take the same time, against what is known by hand and against simulation."""

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.models import closed, paced_station
from cuesta.analysis.models.network import DELAY, Network, Station
from tests.analysis.closed_loop import closed_loop
from tests.analysis.open_loop import OpenLoad, open_loop
from tests.analysis.solved import solve

DEMAND, THINK = 0.1, 2.0


def network(demand: float = DEMAND, think: float = THINK, *, is_fixed: bool = True) -> Network:
    return Network([Station("line", 0.0, DELAY), Station("cpu", demand, is_fixed=is_fixed)], think)


def test_two_users() -> None:
    """A user who begins alone is served until the other did not come within a service: D·e^(D/Z) in the mean, while
    both are away for Z/2."""
    busy, idle = DEMAND * math.exp(DEMAND / THINK), THINK / 2
    assert solve(network(), 2).throughput * DEMAND == pytest.approx(busy / (busy + idle))


@pytest.mark.parametrize("users", [5, 15, 20, 22, 30])
def test_users_who_think_wait_as_in_a_simulation(users: int) -> None:
    """Of exponential services they would wait up to twice as long."""
    found = closed_loop(random.Random(users), users, THINK, DEMAND, 0.0, 20_000, is_fixed=True)
    assert closed.response(network(), users) == pytest.approx(statistics.fmean(found.responses), rel=0.02)


@pytest.mark.parametrize("utilization", [0.3, 0.6, 0.8])
def test_random_arrivals_wait_as_in_a_simulation(utilization: float) -> None:
    load = OpenLoad(10.0, utilization, 20_000, is_exponential=False)
    seconds = open_loop(random.Random(1), load)
    found = statistics.fmean(seconds.responses, [count for count in seconds.counts if count])
    users, cycle = 1000, 100.0
    said = paced_station.response(users, cycle, Station("cpu", load.service, is_fixed=True), delay=0.0)
    assert said == pytest.approx(found, rel=0.03)


@given(st.integers(1, 500), st.floats(1e-6, 10), st.floats(0, 30))
def test_between_the_bound_and_exponential_services(users: int, demand: float, think: float) -> None:
    fixed, exponential = (network(demand, think, is_fixed=each) for each in (True, False))
    found, least = solve(fixed, users), fixed.response_bound(users)
    assert least * (1 - 1e-6) - 1e-9 <= found.response <= closed.response(exponential, users) * (1 + 1e-6) + 1e-9
    assert closed.response(fixed, users + 1) >= found.response - 1e-9 * (1 + think)


def test_a_million_users_at_and_around_saturation() -> None:
    """No more terms are added than matter, and none is too large for a float."""
    users = 1_000_000
    said = [closed.response(network(each / users, 1.0), users) for each in (0.5, 1.01, 5.0)]
    assert said == pytest.approx([0.75e-6, 0.01, 4.0], rel=1e-4)
    assert closed.response(network(100.0, 1e-3), users) == pytest.approx(100.0 * users)
