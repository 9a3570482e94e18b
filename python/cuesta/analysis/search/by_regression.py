"""The rule `regression`: double to the first miss, fit a line near the limit, confirm the lower end of its interval."""

import math
import statistics

from cuesta.analysis.certainty import student
from cuesta.analysis.search.confirmation import Round
from cuesta.analysis.search.history import History
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Belief, Try
from cuesta.analysis.search.regression import fit, observations

BESIDE = 0.06
"""How far below and above the limit the trials stand, as a share of it: near enough for a straight line, far enough for
its slope."""

SAME = 0.03
"""Rates that differ by less than this share are tried as one: numbers of users near 30 differ by as much."""

MOST_ROUNDS = 3
"""Confirmations, each at a lower load than the one before."""

CHECKS = 3
"""The number of trials at a load that met the objective above where the limit seems to be: either those or the misses
below are chance."""

STEP_DOWN = (0.06, 0.25)
"""How much lower a confirmation after a failed one is made, at least and at most."""


def belief(history: History) -> Belief | None:
    return fit(observations(history.counted))


def between(history: History, believed: Belief) -> Try | None:
    """The next trial near the limit; None when it is known well enough."""
    method = history.method
    near, seems = trials_near(history, believed), method.written(rounded(believed, method)[0])
    if near < method.most_trials and (above := met_above(history, believed)) is not None:
        return Try(above, "refine", f"it met the objective, above where the limit seems to be, {seems}")
    if near >= method.most_trials or is_narrow(believed, method):
        return confirmation(history, believed)
    share, where = ((-BESIDE, "a little below where"), (BESIDE, "a little above where"), (0.0, "where"))[near % 3]
    load = tried_near(method.load(believed.point * (1 + share)), history)
    because = f"{where} the limit seems to be, {seems}"
    if history.driver_limit is not None and load >= history.driver_limit:
        load = max(history.met)
        because = f"the most that met it, because the driver could not do {method.written(history.driver_limit)}"
    return Try(load, "refine", because)


def tried_near(load: float, history: History) -> float:
    """A load that counted and differs by less than SAME, else `load`: only loads that repeat tell the noise."""
    tried = [trial.load for trial in history.counted if abs(trial.load / load - 1) < SAME]
    return load if history.method.whole else min(tried, key=lambda each: abs(each - load), default=load)


def met_above(history: History, believed: Belief) -> float | None:
    """The smallest load above the interval that met the objective, and was not tried often enough to believe it."""
    loads = sorted({trial.load for trial in history.counted if trial.met and trial.load > believed.high})
    rare = (load for load in loads if len(history.at(load)) < CHECKS)
    return next((load for load in rare if history.driver_limit is None or load < history.driver_limit), None)


def trials_near(history: History, believed: Belief) -> int:
    """The number of trials within a factor of two of where the limit seems to be, besides those that check the host."""
    tried = [trial for trial in history.counted if trial not in history.checks]
    return sum(believed.point / 2 <= trial.load <= 2 * believed.point for trial in tried)


def is_narrow(believed: Belief, method: Method) -> bool:
    width = believed.high - believed.low
    return width <= max(method.narrow_loads if method.whole else 0.0, method.narrow * believed.point)


def confirmation(history: History, believed: Belief) -> Try | None:
    """The next load to be certified; None if there is none below those that could not be."""
    if len(history.rounds) >= MOST_ROUNDS or any(each.certified for each in history.rounds):
        return None
    method = history.method
    load = floor(believed.low, method)
    because = f"the lower end of the interval, where {method.confirmations} trials show whether the objective is met"
    if history.rounds:
        load = min(load, lower(history.rounds[-1], believed, method))
        because = f"lower, because {method.written(history.rounds[-1].load)} could not be confirmed"
    load = max(load, method.lowest)
    if history.rounds and load >= history.rounds[-1].load:
        return None
    return Try(method.load(load), "confirm", because)


def lower(failed: Round, believed: Belief, method: Method) -> float:
    """The load where, by the slope at the limit, as many trials should show what they failed to show at another."""
    needed = student(method.confirmations - 1) * believed.noise * math.sqrt(2 / method.confirmations)
    reached = statistics.fmean(failed.excesses or [0.0])
    least, most = STEP_DOWN
    share = min(max((reached + needed) / believed.slope, least), most)
    return min(floor(failed.load * (1 - share), method), failed.load - 1 if method.whole else failed.load)


def rounded(believed: Belief, method: Method) -> tuple[float, float, float]:
    """Point and interval as loads that can be tried: users are whole, and the interval only grows by that.

    The limit is sought among these loads, so it is at most the highest. It is 0 if not even the lowest meets the
    objective: the low end is 0 where the limit may be below the lowest.
    """
    high = float(math.ceil(believed.high)) if method.whole else believed.high
    point, low = floor(believed.point, method), floor(believed.low, method)
    low = low if low >= method.lowest else 0.0
    return within(point, method), min(low, method.highest), within(high, method)


def within(load: float, method: Method) -> float:
    return min(max(load, method.lowest), method.highest)


def floor(load: float, method: Method) -> float:
    return float(int(load)) if method.whole else load
