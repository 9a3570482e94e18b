"""The classification of loads by RFC 9971 (Multiple Loss Ratio search), and a search that uses it alone.

A load is an upper or a lower bound as soon as no further trials up to the Goal Duration Sum can change that. A trial
that misses the objective is a high-loss trial. The two bounds are no confidence interval: near the limit they depend on
chance.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cuesta.analysis.search.history import History
from cuesta.analysis.search.outcome import Try

Bound = Literal["lower", "upper", "undecided"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A search goal of RFC 9971 §4.6, without the loss ratio: that gives each trial's verdict."""

    final_duration: float
    """Goal Final Trial Duration: a trial at least so long is full-length. Seconds."""
    duration_sum: float
    """Goal Duration Sum, in seconds."""
    exceed_ratio: float
    """Goal Exceed Ratio."""


def classify(trials: Iterable[tuple[float, bool]], goal: Goal) -> Bound:
    """Classify a load by its trials, each its duration in seconds and whether it met the objective.

    Short good trials only offset short bad ones; full-length ones count in full. (RFC 9971, appendix on load
    classification.)
    """
    sums = {(full, met): 0.0 for full in (False, True) for met in (False, True)}
    for seconds, met in trials:
        sums[seconds >= goal.final_duration, met] += seconds
    offset = sums[False, True] * goal.exceed_ratio / (1 - goal.exceed_ratio)
    bad = sums[True, False] + max(sums[False, False] - offset, 0.0)
    whole = max(bad + sums[True, True], goal.duration_sum)
    allowed = whole * goal.exceed_ratio
    if bad > allowed:
        return "upper"
    return "lower" if whole - sums[True, True] <= allowed else "undecided"


def classify_load(load: float, history: History) -> Bound:
    # Half a percent below the planned length: a recorded interval ends with its last whole second.
    method, full_length = history.method, 0.995 * history.method.full_length
    goal = Goal(full_length, method.trials_a_load * full_length, method.exceed_ratio)
    return classify([(trial.seconds, trial.met) for trial in history.trials_at(load)], goal)


def find_bounds(history: History) -> tuple[float | None, float | None]:
    """The relevant bounds: the smallest upper bound, and the largest lower bound below it."""
    loads = sorted({trial.load for trial in history.counted})
    bounds = {load: classify_load(load, history) for load in loads}
    upper = next((load for load in loads if bounds[load] == "upper"), None)
    lower = [load for load in loads if bounds[load] == "lower" and (upper is None or load < upper)]
    return (lower[-1] if lower else None), upper


def undecided_load(history: History) -> float | None:
    """The last load within the bounds that more trials may still classify; None if there is none."""
    lower, upper = find_bounds(history)
    for trial in reversed(history.counted):
        inside = (lower is None or trial.load > lower) and (upper is None or trial.load < upper)
        if inside and classify_load(trial.load, history) == "undecided":
            return trial.load
    return None


def bisect(history: History, lower: float, upper: float) -> Try | None:
    """Choose the load half-way between the bounds; None if they are close enough, or too many loads were tried."""
    method = history.method
    wide = 1.0 if method.whole else method.narrow * upper
    middle, tried = method.load((lower + upper) / 2), len({trial.load for trial in history.counted})
    if upper - lower <= wide or not lower < middle < upper or tried >= method.most_trials:
        return None
    ends = f"{method.number(lower)}, a lower bound, and {method.number(upper)}, an upper one"
    return Try(middle, "refine", f"half-way between {ends}")
