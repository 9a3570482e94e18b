"""Steady hosts are believed, and hosts without a steady state are found: simulated hosts of random kinds, by seed.

The chances that the documents state are checked over 200 seeds of each kind, nightly; a part of them with every change.
"""

import random
from collections.abc import Callable, Sequence

import pytest

from cuesta.analysis.overload import above_capacity
from cuesta.analysis.stationarity import find_shift
from cuesta.figures.step import Overload
from tests.analysis.closed_loop import Seconds, closed_loop
from tests.analysis.open_loop import OpenLoad, OpenSeconds, open_loop


def few(seeds: int) -> int:
    """One in a hundred, or one."""
    return max(seeds // 100, 1)


seeds = pytest.mark.parametrize("seeds", [30, pytest.param(200, marks=pytest.mark.nightly)])


def random_load(rng: random.Random, utilization: float) -> OpenLoad:
    """Random or fixed instants, exponential or fixed service, one server or several."""
    per_s = rng.uniform(8, 120)
    return OpenLoad(
        per_s=per_s,
        utilization=utilization,
        seconds=rng.choice([12, 20, 30, 60]),
        servers=rng.choice([1, 1, 2, 4]),
        is_exponential=rng.random() < 0.5,
        paced_users=rng.choice([0, 0, max(round(per_s * rng.uniform(0.5, 3)), 1)]),
    )


def mean_responses(seen: Seconds) -> list[float]:
    return [total / count for total, count in zip(seen.response, seen.transactions, strict=True) if count]


def closed(rng: random.Random, of_saturation: float) -> Seconds:
    """Users who think, at a share of the saturation point."""
    think, service = rng.choice([(10, 0.5), (10, 0.1), (1, 0.05), (5, 0.05)])
    users = max(round(of_saturation * (think + service) / service), 2)
    return closed_loop(rng, users, think, service, rng.choice([0.0, 0.3]), rng.choice([12, 20, 30, 60]))


def is_doubted(counts: Sequence[float], responses: Sequence[float]) -> bool:
    return bool(find_shift(counts, counts=True) or find_shift(responses))


def overload_of(load: OpenLoad, seen: OpenSeconds) -> Overload | None:
    return above_capacity(load.per_s, seen.passes)


@seeds
def test_steady_open_and_paced_loads_are_believed_up_to_near_saturation(seeds: int) -> None:
    doubted = []
    for seed in range(seeds):
        rng = random.Random(seed)
        load = random_load(rng, rng.choice([0.3, 0.6, 0.8, 0.9, 0.95]))
        seen = open_loop(rng, load)
        if is_doubted(seen.counts, seen.responses) or overload_of(load, seen):
            doubted.append(seed)
    assert len(doubted) <= few(seeds), doubted


@seeds
def test_steady_closed_loads_are_believed_below_at_and_above_saturation(seeds: int) -> None:
    doubted = []
    for seed in range(seeds):
        rng = random.Random(seed)
        seen = closed(rng, rng.choice([0.5, 0.8, 0.9, 1.0, 1.2]))
        if is_doubted(list(map(float, seen.transactions)), mean_responses(seen)):
            doubted.append(seed)
    assert len(doubted) <= few(seeds), doubted


@seeds
@pytest.mark.parametrize("is_exponential", [True, False], ids=["exponential", "fixed"])
@pytest.mark.parametrize("is_paced", [True, False], ids=["paced", "open"])
def test_ten_percent_over_capacity_is_overloaded(seeds: int, is_paced: bool, is_exponential: bool) -> None:
    missed = []
    for seed in range(seeds):
        rng = random.Random(seed)
        per_s = rng.uniform(70, 150) if is_exponential else rng.uniform(11, 150)
        users = round(per_s * rng.uniform(0.5, 3)) if is_paced else 0
        load = OpenLoad(per_s, 1.1, 60 if is_exponential else 30, 1, is_exponential, users)
        found = overload_of(load, open_loop(rng, load))
        if found is None:
            missed.append(seed)
            continue
        assert found.kept_per_s == pytest.approx(per_s / 1.1, rel=0.05)
        assert found.growth_per_s == pytest.approx(per_s - found.kept_per_s)
    assert len(missed) <= few(seeds), missed


@seeds
@pytest.mark.parametrize("at", [0.15, 0.5, 0.85])
def test_a_change_of_level_is_found_wherever_it_is(seeds: int, at: float) -> None:
    def slower(second: int, seconds: int) -> float:
        return 2.0 if second >= at * seconds else 1.0

    assert found_changes(seeds, slower) == seeds


@seeds
def test_a_slow_drift_of_thirty_percent_is_found(seeds: int) -> None:
    def slower(second: int, seconds: int) -> float:
        return 1 + 0.3 * second / seconds

    assert found_changes(seeds, slower) == seeds


def found_changes(seeds: int, factor: Callable[[int, int], float]) -> int:
    """In how many runs of the main job's host a change is found that a factor makes of its responses."""
    found = 0
    for seed in range(seeds):
        rng = random.Random(seed)
        seen = closed_loop(rng, 96, 10, 0.005, 0.34, rng.choice([30, 60]))
        means = mean_responses(seen)
        found += find_shift([mean * factor(second, len(means)) for second, mean in enumerate(means)]) is not None
    return found


def test_an_overload_that_arrivals_hide_is_found() -> None:
    """One server of 10 a second, at 11 a second of which few came: no backlog grew, and yet the host is the limit."""
    rng = random.Random(3)
    load = OpenLoad(11, 1.1, 12, is_exponential=False)
    seen = next(
        seen
        for seen in iter(lambda: open_loop(rng, load), None)
        if sum(second.due for second in seen.passes) < 118 and min(second.ended for second in seen.passes) == 10
    )
    found = overload_of(load, seen)
    assert found is not None
    assert [found.kept_per_s, found.growth_per_s] == pytest.approx([10, 1], abs=0.1)


def test_too_short_an_interval_is_not_judged() -> None:
    load = OpenLoad(20, 2.0, 9, is_exponential=False)
    assert overload_of(load, open_loop(random.Random(1), load)) is None
