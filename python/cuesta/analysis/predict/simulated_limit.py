"""The largest number of users whose simulated percentile is within a limit, by doubling and bisection."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from cuesta.analysis.predict.band import Band
from cuesta.analysis.predict.changes import mean_response
from cuesta.analysis.predict.fitting import users_at_saturation
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.simulation import NO_INTERVAL, PERCENTILES, Length, SimulatedFigure, Simulator
from cuesta.analysis.predict.what_if import Estimate, users_within_limit, why_limit_withheld
from cuesta.errors import RefusedError
from cuesta.figures.limit import Limit

TRIAL = Length(20_000, 1_000_000)
"""Of each of some tens of simulations."""
MOST_USERS = 1_000_000
"""The largest number of users that is tried."""
TOLERANCE = 0.002
"""Relative width of the bracket at which bisection stops."""
TIMED = ("response", "echo")
PERCENTILE = re.compile(r"p\d{1,2}(\.\d+)?")


@dataclass(frozen=True, slots=True)
class SimulatedLimit:
    """The largest number of users within a limit."""

    at: Conditions
    """The load, with any number of users."""
    users: Estimate
    """0 if a single user exceeds it; the interval is that of the simulated percentiles alone.

    Withheld when the limit by means is.
    """
    reached: Estimate | None
    """The percentile at that number of users."""
    is_unbounded: bool
    """Whether even MOST_USERS are within the limit."""
    trials: int
    events: int
    elapsed: float


def is_percentile(limit: Limit) -> bool:
    """Whether a limit is on a percentile of a response."""
    figure = limit.figure
    is_one = bool(PERCENTILE.fullmatch(figure.statistic or ""))
    return is_one and figure.metric in TIMED and limit.comparison in ("<", "<=")


def list_percentiles(limit: Limit | None) -> list[str]:
    """The percentiles that a report shows, and that of a limit."""
    own = [limit.figure.statistic] if limit and is_percentile(limit) and limit.figure.statistic else []
    return list(dict.fromkeys([*PERCENTILES, *own]))


@dataclass
class Trials:
    """Simulations by number of users, each run once."""

    simulator: Simulator
    limit: Limit
    start: int
    announce: Callable[[int], None]
    """Called before a simulation with its number of users."""
    figures: dict[int, SimulatedFigure] = field(default_factory=dict)

    def percentile(self, users: int) -> Estimate:
        """The limit's figure at a number of users. Raises RefusedError if the simulation does not give it."""
        if users not in self.figures:
            self.announce(users)
            self.figures[users] = self.simulator.simulate(users, TRIAL)
        wanted = self.limit.figure
        name = f"{wanted.metric}{{{wanted.transaction}}}" if wanted.transaction else wanted.metric
        known = {each.name: each.percentiles.get(wanted.statistic or "") for each in self.figures[users].series}
        if estimate := known.get(name):
            return estimate
        raise RefusedError(
            f"--limit {self.limit}: the simulation does not show it",
            f"it shows {', '.join(known)}" if name not in known else "it is too rare for an interval",
        )

    def bisect_users(self, end: Callable[[Estimate], float]) -> int:
        """The largest number of users whose percentile, or an end of its interval, is within the limit, or 0."""

        def keeps(users: int) -> bool:
            return self.limit.holds(end(self.percentile(users)))

        low, high = 0, self.start
        while keeps(high):
            if high >= MOST_USERS:
                return MOST_USERS
            low, high = high, min(2 * high, MOST_USERS)
        while high - low > max(1, TOLERANCE * low):
            middle = (low + high) // 2
            low, high = (middle, high) if keeps(middle) else (low, middle)
        return low


def find_simulated_limit(simulator: Simulator, limit: Limit, announce: Callable[[int], None]) -> SimulatedLimit:
    """Search for the largest number of users, starting at saturation."""
    saturation = users_at_saturation(simulator.network(simulator.at), simulator.at)
    trials = Trials(simulator, limit, round(min(max(saturation, 1), MOST_USERS)), announce)
    most = trials.bisect_users(lambda each: each.value)
    reached = trials.percentile(most) if most else None
    return SimulatedLimit(
        at=simulator.at,
        users=Estimate(most, limit_interval(trials, most), why_withheld(simulator, most)),
        reached=reached,
        is_unbounded=most >= MOST_USERS,
        trials=len(trials.figures),
        events=sum(each.events for each in trials.figures.values()),
        elapsed=sum(each.elapsed for each in trials.figures.values()),
    )


def limit_interval(trials: Trials, most: int) -> Band:
    """The users whose percentile's interval includes the limit; without ends where percentiles have no interval."""
    if most and not trials.figures[most].has_intervals:
        return NO_INTERVAL
    least = trials.bisect_users(lambda each: each.value if each.band == NO_INTERVAL else each.band.high)
    highest = trials.bisect_users(lambda each: each.value if each.band == NO_INTERVAL else each.band.low)
    return Band(min(least, most), max(highest, most))


def why_withheld(simulator: Simulator, users: int) -> str:
    """Why a number of users is withheld: for the reason that a limit on their exact mean response would be."""
    if not users:
        return why_limit_withheld(simulator.system, simulator.at, users)
    mean = mean_response(simulator.network(simulator.at), replace(simulator.at, users=users))
    return users_within_limit(simulator.system, simulator.at, simulator.changes, mean).why_left_out
