"""Series that keep their level, and series that do not."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.stationarity import find_shift, find_split
from cuesta.figures.step import LevelShift
from tests.analysis.closed_loop import Seconds, closed_loop


def main_job(rng: random.Random) -> Seconds:
    return closed_loop(rng, users=96, think=10, service=0.005, delay=0.34, seconds=30)


def shifts(seen: Seconds) -> tuple[LevelShift | None, LevelShift | None]:
    means = [total / count for total, count in zip(seen.response, seen.transactions, strict=True) if count]
    return find_shift([float(count) for count in seen.transactions], counts=True), find_shift(means)


def test_a_steady_closed_run_is_rarely_doubted() -> None:
    rng = random.Random(1)
    doubted = sum(shifts(main_job(rng)) != (None, None) for _ in range(1000))
    assert doubted <= 2  # fewer than 1 in 500


def test_users_who_start_one_by_one_are_detected() -> None:
    rng, seen = random.Random(3), 0
    for _ in range(50):
        run = main_job(rng)
        run.transactions = [round(count * (second + 1) / 30) for second, count in enumerate(run.transactions)]
        seen += shifts(run)[0] is not None
    assert seen >= 45


def test_one_stall_is_no_change_of_level() -> None:
    rng = random.Random(4)
    for second in range(30):
        run = main_job(rng)
        run.response[second] += run.transactions[second] * 1.4
        assert shifts(run) == (None, None)


def test_an_exactly_repeating_series_is_stationary() -> None:
    assert find_shift([5000.0] * 30, counts=True) is None
    assert find_shift([0.1] * 3600) is None
    assert find_shift([0.0] * 30, counts=True) is None
    assert find_shift([96.0 if second % 10 == 0 else 0.0 for second in range(30)], counts=True) is None


def test_a_clear_step_is_located() -> None:
    found = find_shift([1.0, 1.1, 0.9] * 3 + [2.0, 2.1, 1.9] * 7)
    assert found is not None
    assert (round(found.before, 3), round(found.after, 3), found.at) == (1.0, 2.0, 0.3)


def test_two_levels_that_explain_nearly_all_are_found_in_a_short_run() -> None:
    """Measured at a host that became slower, on a busy machine: the seconds before resemble each other, too."""
    found = find_shift([0.035, 0.033, 0.017, 0.018, 0.021, 0.022, 0.034, 0.026, 0.373, 0.615, 0.606, 0.610])
    assert found is not None
    assert found.at == 8 / 12


@pytest.mark.parametrize("lasts", [2, 4, 8])
@pytest.mark.parametrize(("excess", "noise"), [(0.3, 0.005), (1.0, 0.005), (1.0, 0.05), (3.0, 0.05)])
def test_a_host_that_warms_up_gradually_is_found(lasts: float, excess: float, noise: float) -> None:
    rng, found = random.Random(5), 0
    for _ in range(20):
        level = [1 + excess * math.exp(-second / lasts) for second in range(30)]
        found += find_shift([each * (1 + rng.gauss(0, noise)) for each in level]) is not None
    assert found >= 10


def test_a_drift_has_its_ends_and_no_place() -> None:
    found = find_shift([1 + second / 100 + second % 3 / 50 for second in range(31)])
    assert found is not None
    assert found.at is None
    assert [found.before, found.after] == pytest.approx([1.02, 1.32], abs=0.01)


def test_a_gradual_change_may_be_a_queue_that_wanders() -> None:
    noise = [0.08, -0.08, -0.08, 0.08] * 5
    at_once = [1.0] * 10 + [1.5] * 10
    gradual = [1.0] * 7 + [1.1, 1.2, 1.2, 1.3, 1.3, 1.4] + [1.5] * 7
    found = find_shift([a + b for a, b in zip(at_once, noise, strict=True)])
    assert found is not None
    assert found.at == 0.5
    assert [found.before, found.after] == pytest.approx([1, 1.5])
    assert find_shift([a + b for a, b in zip(gradual, noise, strict=True)]) is None


def test_too_short_a_series_is_not_judged() -> None:
    assert find_shift([1.0] * 4 + [9.0] * 5) is None


@given(st.lists(st.floats(0, 100), min_size=20, max_size=60))
def test_the_chosen_split_fits_best(values: list[float]) -> None:
    def squares(part: list[float]) -> float:
        mean = sum(part) / len(part)
        return sum((value - mean) ** 2 for value in part)

    def left_over(cut: int) -> float:
        return squares(values[:cut]) + squares(values[cut:])

    found = left_over(find_split(values))
    assert all(found <= left_over(cut) + 1e-6 for cut in range(3, len(values) - 2))
    assert 3 <= find_split(values) <= len(values) - 3
