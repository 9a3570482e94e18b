"""Searches at hosts of known capacity: how often the interval has it, how far the point is off, what is certified."""

import math
import statistics

import pytest

from tests.analysis.search.known_hosts import HOSTS, KnownHost, by_theory
from tests.analysis.search.searching import AS_PLAYED, at, has, search

COVERS = 0.85
"""Least share of the nominal 90 % intervals that have the capacity."""
MOST_OFF = 2.0
"""Users: the root of the mean square of the points' errors."""
TOO_HIGH = 2
"""Users: a certified number that is so much above the capacity is a false claim."""
MOST_FALSE = 0.05
"""Most of the searches that may end with one."""


@pytest.mark.parametrize("name", HOSTS)
def test_searches_find_the_capacity(name: str) -> None:
    check(HOSTS[name], range(4))


@pytest.mark.nightly
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", HOSTS)
def test_many_searches_find_the_capacity(name: str) -> None:
    check(HOSTS[name], range(1000, 1300))


def check(known: KnownHost, seeds: range) -> None:
    found = [search(at(known.host, known.limit, seed), AS_PLAYED)[1] for seed in seeds]
    truth = known.capacity()
    covered = [has(each, truth) for each in found]
    errors = [(each.users or 0) - truth for each in found]
    certified = [each.certified for each in found if each.certified is not None]
    said = f"capacity {truth}: {[(each.users, each.interval, each.certified) for each in found]}"
    assert statistics.fmean(covered) >= COVERS, said
    assert math.sqrt(statistics.fmean(error**2 for error in errors)) <= MOST_OFF, said
    assert sum(each >= truth + TOO_HIGH for each in certified) <= MOST_FALSE * len(found), said
    assert len(certified) >= 0.9 * len(found), said
    assert statistics.fmean(certified) >= 0.75 * truth, said
    assert statistics.fmean(each.trials for each in found) <= 35, said


def test_the_simulated_hosts_are_those_of_theory() -> None:
    """A long simulation crosses the limit where theory says."""
    for name in ("one server", "four servers", "a fixed delay"):
        known = HOSTS[name]
        users = known.capacity()
        below, above = (known.host.p95(each, 1, 600.0, 100_000.0) for each in (users - 1, users + 2))
        assert below < known.limit < above, name


def test_a_user_alone_waits_for_its_own_service() -> None:
    """Of exponential times 5 % are longer than ln 20 of the mean."""
    assert by_theory(1.0, math.log(20) + 1e-9)(1)
    assert not by_theory(1.0, math.log(20) - 1e-9)(1)
    assert by_theory(1.0, math.log(20) + 1e-9, 4)(4)
