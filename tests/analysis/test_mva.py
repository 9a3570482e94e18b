"""Mean value analysis against published networks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.mva import solve


def test_a_central_server_with_terminals() -> None:
    """R. Jain, The Art of Computer Systems Performance Analysis, example 34.2."""
    visits, services = (16, 10, 5), (0.125, 0.3, 0.2)
    solutions = solve([v * s for v, s in zip(visits, services, strict=True)], think=4, users=20)
    assert [round(each.throughput, 4) for each in solutions[:5]] == [0.1, 0.1754, 0.2292, 0.2658, 0.2898]
    last = solutions[-1]
    assert last.throughput == pytest.approx(0.3332, abs=5e-5)
    assert last.response == pytest.approx(56.02, abs=5e-3)
    assert last.queues == pytest.approx((1.991, 16.177, 0.5), abs=1e-3)
    per_visit = [residence / v for residence, v in zip(last.residences, visits, strict=True)]
    assert per_visit == pytest.approx((0.373, 4.854, 0.300), abs=1e-3)


def test_three_stations() -> None:
    """E. D. Lazowska et al., Quantitative System Performance, p. 117, solved exactly."""
    last = solve([0.605, 2.1, 1.35], think=15, users=3)[-1]
    assert last.throughput == pytest.approx(0.15152, abs=5e-6)
    assert last.response == pytest.approx(4.8, abs=5e-4)


def test_four_stations_without_terminals() -> None:
    """G. Bolch et al., Queueing Networks and Markov Chains, example 8.3."""
    demands = [0.02, 0.4 * 0.2, 0.2 * 0.4, 0.1 * 0.6]
    last = solve(demands, think=0, users=6)[-1]
    assert last.throughput == pytest.approx(9.920, abs=5e-4)
    assert [last.throughput * demand for demand in demands] == pytest.approx([0.198, 0.794, 0.794, 0.595], abs=6e-4)
    assert last.queues == pytest.approx((0.244, 2.261, 2.261, 1.234), abs=6e-4)


def test_two_stations_by_hand() -> None:
    one, two = solve([0.5, 1.0], think=1, users=2)
    assert (one.response, one.throughput) == pytest.approx((1.5, 0.4))
    assert two.response == pytest.approx(2.0)


def test_the_machine_repairman() -> None:
    """The closed form of the finite-source M/M/1 queue."""
    assert solve([0.03], think=3, users=96)[-1].throughput == pytest.approx(29.94191584, rel=1e-9)


@pytest.mark.parametrize(
    ("think", "bounds"),
    [
        (
            0,
            {
                2: (4.3040, 4.3174),
                5: (6.6859, 6.7524),
                10: (8.1521, 8.2690),
                20: (9.0947, 9.2431),
                80: (9.8233, 9.8765),
            },
        ),
        (
            1,
            {
                2: (1.4319, 1.5195),
                5: (3.3432, 3.5582),
                10: (5.7569, 6.1410),
                20: (8.0856, 8.6467),
                80: (9.7147, 9.8594),
            },
        ),
    ],
)
def test_throughput_lies_within_geometric_bounds(think: float, bounds: dict[int, tuple[float, float]]) -> None:
    """G. Casale et al., Geometric bounds, tables IV and V."""
    solutions = solve([0.1, 0.1, 0.09, 0.08], think, users=80)
    for users, (low, high) in bounds.items():
        assert low <= solutions[users - 1].throughput <= high


def test_a_pure_delay_is_think_time_that_counts_as_response() -> None:
    delayed, thought = solve([0.03], think=3, users=96, delay=0.34)[-1], solve([0.03], think=3.34, users=96)[-1]
    assert delayed.throughput == pytest.approx(thought.throughput)
    assert delayed.response == pytest.approx(thought.response + 0.34)


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=5), st.floats(0, 60), st.integers(1, 50))
def test_asymptotic_bounds_and_littles_law_hold(demands: list[float], think: float, users: int) -> None:
    last = solve(demands, think, users)[-1]
    assert last.throughput <= min(1 / max(demands), users / (sum(demands) + think)) * (1 + 1e-9)
    assert sum(last.queues) + last.throughput * think == pytest.approx(users)
