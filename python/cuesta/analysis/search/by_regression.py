"""The rule `regression`: bracket the limit, fit a line near it, confirm the lower end of the interval."""

import math
import statistics

from cuesta.analysis.certainty import student
from cuesta.analysis.search.history import Confirmation, History
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import LimitEstimate, Try
from cuesta.analysis.search.regression import fit_line, observe

OFFSET = 0.06
"""Distance of trials from the limit, as a share of it: near enough for a straight line, far enough for its slope."""

SAME_RATE = 0.03
"""Rates that differ by less than this share count as one load; whole numbers of users near 30 differ by as much."""

MOST_CONFIRMATIONS = 3
"""Most confirmations, each at a lower load than the one before."""

CHECKS = 3
"""Trials at a load that met the objective above the estimated interval: either they or the misses below are chance."""

STEP_DOWN = (0.06, 0.25)
"""Least and greatest step from a failed confirmation down to the next, as shares of its load."""


def estimate_limit(history: History) -> LimitEstimate | None:
    return fit_line(observe(history.counted))


def next_near_limit(history: History, estimate: LimitEstimate) -> Try | None:
    """Choose the next trial near the limit; None when the interval is narrow and no confirmation is left."""
    method = history.method
    limit = method.with_unit(round_estimate(estimate, method)[0])
    tried = (trial.load for trial in history.counted if trial not in history.checks)
    near = sum(estimate.point / 2 <= load <= 2 * estimate.point for load in tried)
    if near < method.most_trials and (above := pass_above(history, estimate)) is not None:
        return Try(above, "refine", f"it met the objective, above where the limit seems to be, {limit}")
    width = max(method.narrow_loads if method.whole else 0.0, method.narrow * estimate.point)
    if near >= method.most_trials or estimate.high - estimate.low <= width:
        return next_confirmation(history, estimate)
    share, where = ((-OFFSET, "a little below where"), (OFFSET, "a little above where"), (0.0, "where"))[near % 3]
    load = nearest_tried(method.load(estimate.point * (1 + share)), history)
    because = f"{where} the limit seems to be, {limit}"
    if history.driver_limit is not None and load >= history.driver_limit:
        load = max(history.loads_met)
        because = f"the most that met it, because the driver could not do {method.with_unit(history.driver_limit)}"
    return Try(load, "refine", because)


def nearest_tried(load: float, history: History) -> float:
    """A tried rate that differs by less than SAME_RATE, else `load`: the noise is estimated from loads that repeat."""
    tried = [trial.load for trial in history.counted if abs(trial.load / load - 1) < SAME_RATE]
    return load if history.method.whole else min(tried, key=lambda rate: abs(rate - load), default=load)


def pass_above(history: History, estimate: LimitEstimate) -> float | None:
    """The smallest load above the interval that met the objective in fewer than CHECKS trials."""
    loads = sorted({trial.load for trial in history.counted if trial.met and trial.load > estimate.high})
    rare = (load for load in loads if len(history.trials_at(load)) < CHECKS)
    return next((load for load in rare if history.driver_limit is None or load < history.driver_limit), None)


def next_confirmation(history: History, estimate: LimitEstimate) -> Try | None:
    """Choose the next load to confirm; None if one was confirmed, or none is left below those that failed."""
    if len(history.confirmations) >= MOST_CONFIRMATIONS or history.certified is not None:
        return None
    method = history.method
    load = round_down(estimate.low, method)
    because = f"the lower end of the interval, where {method.confirmations} trials show whether the objective is met"
    if history.confirmations:
        load = min(load, lower_confirmation(history.confirmations[-1], estimate, method))
        because = f"lower, because {method.with_unit(history.confirmations[-1].load)} could not be confirmed"
    load = max(load, method.lowest)
    if history.confirmations and load >= history.confirmations[-1].load:
        return None
    return Try(method.load(load), "confirm", because)


def lower_confirmation(failed: Confirmation, estimate: LimitEstimate, method: Method) -> float:
    """The load at which, by the slope at the limit, the same number of trials should confirm the objective."""
    needed = student(method.confirmations - 1) * estimate.noise * math.sqrt(2 / method.confirmations)
    mean_excess = statistics.fmean(failed.excesses or [0.0])
    least, most = STEP_DOWN
    share = min(max((mean_excess + needed) / estimate.slope, least), most)
    return min(round_down(failed.load * (1 - share), method), failed.load - 1 if method.whole else failed.load)


def round_estimate(estimate: LimitEstimate, method: Method) -> tuple[float, float, float]:
    """Round point and interval to loads that can be tried: users are whole, and the interval never narrows.

    The point stays within the lowest and the highest load. The low end is 0 where the limit may be below the lowest.
    """
    high = float(math.ceil(estimate.high)) if method.whole else estimate.high
    point, low = round_down(estimate.point, method), round_down(estimate.low, method)
    low = low if low >= method.lowest else 0.0
    point, high = (min(max(load, method.lowest), method.highest) for load in (point, high))
    return point, min(low, method.highest), high


def round_down(load: float, method: Method) -> float:
    return float(int(load)) if method.whole else load
