"""How many users keep a limit on a percentile, by simulations of one number of users after the other."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from cuesta.analysis.predict.band import Band
from cuesta.analysis.predict.changes import response_of
from cuesta.analysis.predict.fitting import users_at_saturation
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.simulation import NO_INTERVAL, PERCENTILES, Length, SimulatedFigure, Simulator
from cuesta.analysis.predict.what_if import Estimate, allowed_users, why_no_limit
from cuesta.errors import RefusedError
from cuesta.figures.limit import Limit

TRIAL = Length(20_000, 1_000_000)
"""Of a simulation that looks for the limit: there are some tens."""
MOST_USERS = 1_000_000
"""The largest number of users that is tried."""
NEAR = 0.002
"""Relative difference of numbers of users that need not be told apart."""
TIMED = ("response", "echo")
PERCENTILE = re.compile(r"p\d{1,2}(\.\d+)?")


@dataclass(frozen=True, slots=True)
class SimulatedLimit:
    """The largest number of users that keeps a limit."""

    at: Conditions
    """The load, with any number of users."""
    users: Estimate
    """Whole users, 0 if a single one misses it; the interval is that of the simulated percentiles alone.

    It is not reported where the users that the limit's mean allows would not be: for the same reasons.
    """
    reached: Estimate | None
    """The percentile at a number of users."""
    is_open: bool
    """Whether even the largest number that is tried keeps it."""
    trials: int
    events: int
    elapsed: float


def is_percentile(limit: Limit) -> bool:
    """Whether a limit is on a percentile of a response."""
    figure = limit.figure
    is_one = bool(PERCENTILE.fullmatch(figure.statistic or ""))
    return is_one and figure.metric in TIMED and limit.comparison in ("<", "<=")


def percentiles_with(limit: Limit | None) -> list[str]:
    """Those that a report shows, and that of a limit."""
    own = [limit.figure.statistic] if limit and is_percentile(limit) and limit.figure.statistic else []
    return list(dict.fromkeys([*PERCENTILES, *own]))


@dataclass
class Trials:
    """Simulations by the number of users, each made once."""

    simulator: Simulator
    limit: Limit
    start: int
    tell: Callable[[int], None]
    """Is told before a simulation how many users it has."""
    found: dict[int, SimulatedFigure] = field(default_factory=dict)

    def percentile(self, users: int) -> Estimate:
        """The limit's figure at a number of users. Raises RefusedError if no user has measured it."""
        if users not in self.found:
            self.tell(users)
            self.found[users] = self.simulator.figure(users, TRIAL)
        return self.seen(self.found[users])

    def seen(self, figure: SimulatedFigure) -> Estimate:
        wanted = self.limit.figure
        name = f"{wanted.metric}{{{wanted.transaction}}}" if wanted.transaction else wanted.metric
        known = {each.name: each.percentiles.get(wanted.statistic or "") for each in figure.series}
        if seen := known.get(name):
            return seen
        raise RefusedError(
            f"--limit {self.limit}: the simulation does not show it",
            f"it shows {', '.join(known)}" if name not in known else "it is too rare for an interval",
        )

    def most(self, end: Callable[[Estimate], float]) -> int:
        """The largest number of users whose percentile, or an end of its interval, keeps the limit; 0 if none does."""

        def keeps(users: int) -> bool:
            return self.limit.holds(end(self.percentile(users)))

        low, high = 0, self.start
        while keeps(high):
            if high >= MOST_USERS:
                return MOST_USERS
            low, high = high, min(2 * high, MOST_USERS)
        while low == 0 and high > 1:
            middle = high // 2
            low, high = (middle, high) if keeps(middle) else (0, middle)
        while high - low > max(1, NEAR * low):
            middle = (low + high) // 2
            low, high = (middle, high) if keeps(middle) else (low, middle)
        return low


def simulated_limit(simulator: Simulator, limit: Limit, tell: Callable[[int], None]) -> SimulatedLimit:
    """Look for the largest number of users, beginning near saturation."""
    saturation = users_at_saturation(simulator.network(simulator.at), simulator.at)
    trials = Trials(simulator, limit, round(min(max(saturation, 1), MOST_USERS)), tell)
    most = trials.most(lambda each: each.value)
    reached = trials.percentile(most) if most else None
    return SimulatedLimit(
        at=simulator.at,
        users=Estimate(most, interval(trials, most), why_left_out(simulator, most)),
        reached=reached,
        is_open=most >= MOST_USERS,
        trials=len(trials.found),
        events=sum(each.events for each in trials.found.values()),
        elapsed=sum(each.elapsed for each in trials.found.values()),
    )


def interval(trials: Trials, most: int) -> Band:
    """The users whose percentile's interval has the limit in it; without ends where percentiles have no interval."""
    if most and not trials.found[most].has_intervals:
        return NO_INTERVAL
    least = trials.most(lambda each: each.value if each.band == NO_INTERVAL else each.band.high)
    highest = trials.most(lambda each: each.value if each.band == NO_INTERVAL else each.band.low)
    return Band(min(least, most), max(highest, most))


def why_left_out(simulator: Simulator, users: int) -> str:
    """Why a number of users is not reported.

    Exact theory gives the mean response with these users. The reason is that of a limit on this mean.
    """
    if not users:
        return why_no_limit(simulator.system, simulator.at, users)
    mean = response_of(simulator.network(simulator.at), replace(simulator.at, users=users))
    return allowed_users(simulator.system, simulator.at, simulator.changes, mean).why_left_out
