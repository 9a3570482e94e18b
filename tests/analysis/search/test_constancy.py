"""Hosts that change while they are searched: broken for good, for a while, and by the age of their sessions."""

import math
import random
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from cuesta.analysis.search import Method, Outcome, Trial, Try, replay
from tests.analysis.search.searching import AS_PLAYED, has, search, trial

LENGTH = 60.0
"""Seconds of a trial with its settling."""


@dataclass
class Host:
    """Keeps the objective up to `limit` users; `broken_at` is the instant of the last trial above `breaks` users."""

    limit: float = 30.5
    breaks: float = 36.0
    heals_after: float = math.inf
    ages_by: float = 0.0
    """How much the excess grows in each trial."""
    now: float = 0.0
    broken_at: float = -math.inf
    seen: list[float] = field(default_factory=list)

    def measure(self, number: int, ask: Try) -> Trial:
        self.now += LENGTH
        is_broken = self.broken_at > -math.inf and self.now - self.broken_at < self.heals_after
        if ask.load > self.breaks:
            self.broken_at = self.now
        noise = random.Random(number).gauss(0, 0.05)
        excess = 2.0 if is_broken and ask.load > 2 else 3 * (ask.load / self.limit - 1) + self.ages_by * number + noise
        self.seen.append(ask.load)
        return trial(number, ask.load, min(excess, 5.0), ended=self.now)


def search_host(host: Host, method: Method = AS_PLAYED) -> tuple[list[Trial], Outcome]:
    return search(host.measure, method)


def test_a_host_that_stays_broken_has_changed() -> None:
    """The answer has both levels: up to 32 users met before 64 were tried, and then 2."""
    trials, outcome = search_host(Host())
    assert [each.load for each in trials[:6]] == [4, 8, 16, 32, 4, 64]
    assert outcome.limited_by == "changed"
    assert outcome.verdict == "irregular"
    assert outcome.change is not None
    assert (outcome.change.load, outcome.change.missed, outcome.change.level) == (4, 64, 2)
    assert outcome.change.recovered_after is None
    assert outcome.why.startswith("the host has changed: 4 users met the objective at first")
    assert outcome.why.endswith("and did not come back; 2 users still met it")
    assert (outcome.users or 0) > 4, "not what the broken host does"


def test_a_host_that_recovers_is_waited_for() -> None:
    """What the broken host does says nothing about the limit, and the answer says how long it took to recover."""
    _, outcome = search_host(Host(heals_after=150.0))
    assert outcome.limited_by == "host"
    assert 28 <= (outcome.users or 0) <= 33
    assert has(outcome, 30)
    assert outcome.change is not None
    assert 150 <= (outcome.change.recovered_after or 0) <= 150 + 2 * LENGTH
    assert "it was as before" in outcome.why


def test_a_search_that_is_ended_says_how_the_host_changed() -> None:
    trials, _ = search_host(Host(heals_after=150.0))
    outcome = replay(trials[:-1], AS_PLAYED).conclude("the budget is spent")
    assert outcome.why.startswith("the budget is spent; the host has changed: 4 users met")
    assert "it was as before" in outcome.why


def test_a_host_that_ages_has_changed() -> None:
    """Sessions become slower with age until not even the first load meets: there is no one limit to be found."""
    _, outcome = search_host(Host(ages_by=0.25))
    assert outcome.limited_by == "changed"
    assert outcome.change is not None
    assert (outcome.change.then or 0) > 1 > (outcome.change.before or 1)


@pytest.mark.parametrize("limit", [5.0, 12.5, 30.5, 90.0])
def test_a_host_that_stays_as_it_is_has_not_changed(limit: float) -> None:
    trials, outcome = search_host(Host(limit, breaks=math.inf))
    assert outcome.change is None
    after = [two.load for one, two in pairwise(trials) if not one.met and one.load > 4]
    assert set(after) == {4}, "after each failure the first load that met is tried again"
    assert len(trials) <= 40
