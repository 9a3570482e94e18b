"""The rules by which a search chooses the next load, or ends."""

import math

from cuesta.analysis.search import by_regression, rfc9971
from cuesta.analysis.search.conclusion import conclude
from cuesta.analysis.search.history import MOST_DOUBTED, History
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Outcome, Try
from cuesta.analysis.search.trial import Trial
from cuesta.units import many

CLEAR = 0.3
"""Excess beyond which one trial, or several together, show a miss: twice the noise of a percentile of some minutes."""

WIDE = 4.0
"""Ratio of the bracket's ends above which it is bisected before a line is fitted."""

MOST_CHECKS = 60
"""Checks of whether the host has changed, after which a search ends."""

NEAR = 1.1
"""Ratio of two loads below which the bracket of the driver's limit is not bisected further."""


def decide(history: History) -> Try | Outcome:
    """Choose the next trial, or end the search."""
    if (stuck := history.stuck) is not None:
        why = f"trials with {history.method.with_unit(stuck.load)} could not be trusted: {stuck.doubts[0]}"
        return conclude(history, "doubts", why)
    checks = len(history.checks)
    if history.trial_count - checks >= trial_budget(history.method) or checks >= MOST_CHECKS:
        return conclude(history, "budget", f"{history.trial_count} trials were made")
    if history.unrecovered:
        written = history.method.with_unit(history.unrecovered.load)
        why = f"the host stopped and did not recover: nothing was answered with {written} either"
        return conclude(history, "host" if history.loads_met else "lowest", why)
    if history.constancy.is_over:
        return conclude(history, "changed", "")
    pending = next_recovery(history) or history.constancy.next_check() or next_pending(history)
    refine = refine_by_rfc9971 if history.method.rule == "rfc9971" else refine_by_regression
    return pending or (refine(history) if is_bracketed(history) else bracket(history))


def trial_budget(method: Method) -> int:
    """An upper bound of the trials of a search; doubling over all possible loads takes some sixty."""
    return 64 + MOST_DOUBTED + method.most_trials * method.trials_a_load + 3 * method.confirmations


def is_bracketed(history: History) -> bool:
    """Whether the limit is between two loads, and the upper one did not miss by chance."""
    if not history.loads_met or not history.loads_missed:
        return False
    passed = history.loads_met[-1]
    excess_above = sum(trial.excess or 0.0 for trial in history.counted if not trial.met and trial.load > passed)
    is_clear = excess_above > CLEAR or any(map(is_clear_miss, history.counted))
    top = max(trial.load for trial in history.counted)
    return is_clear or top >= history.method.highest or exceeds_driver(2 * top, history)


def is_clear_miss(trial: Trial) -> bool:
    """Whether one trial suffices to show that its load misses."""
    return not trial.met and (trial.excess is None or bool(trial.against) or trial.excess > CLEAR)


def next_recovery(history: History) -> Try | None:
    """Choose a load that the host can serve, after a trial in which it answered nothing; None after any other trial.

    No other load says anything before the host has recovered.
    """
    last = history.last
    if last is None or last.answers != "none":
        return None
    load = min(last.load, history.loads_met[-1] if history.loads_met else history.method.lowest)
    if not history.loads_met and load == last.load:
        return None
    written = history.method.with_unit(last.load)
    return Try(load, "recover", f"nothing was answered with {written}: the host may have to recover")


def next_pending(history: History) -> Try | None:
    """Choose a trial that repeats one that did not count, or continues a confirmation; None if neither is pending."""
    for load in history.doubted_in_a_row:
        if not exceeds_driver(load, history):
            return Try(load, "repeat", "the last trial there does not count")
    if history.confirming:
        last = history.confirmations[-1]
        return Try(last.load, "confirm", f"confirming trial {len(last.trials) + 1} of {last.wanted}")
    return None


def exceeds_driver(load: float, history: History) -> bool:
    """Whether the driver cannot offer a load."""
    return history.driver_limit is not None and load >= history.driver_limit


def bracket(history: History) -> Try | Outcome:
    """Double to the first miss, or halve to the first pass."""
    method = history.method
    if not history.counted:
        return choose_first(history)
    if not history.loads_met:
        return halve(history)
    most = max(trial.load for trial in history.counted)
    top = method.highest if history.driver_limit is None else history.driver_limit
    if most < top:
        load = method.load(min(2 * most, top))
        if history.driver_limit is None:
            has_passed = most == history.loads_met[-1]
            tried = "met the objective" if has_passed else "missed by so little that it may be chance"
            more = "twice as many" if load == 2 * most else "the most that may be tried"
            return Try(load, "bracket", f"{method.with_unit(most)} {tried}: {more}")
        load = method.load((most * top) ** 0.5)
        if top > NEAR * most and most < load < top:
            ends = f"{method.number(most)}, which met it, and {method.number(top)}, which the driver cannot do"
            return Try(load, "bracket", f"between {ends}")
    return end_at_highest(history, most)


def can_double(load: float, history: History) -> bool:
    return load < history.method.highest and not exceeds_driver(history.method.load(2 * load), history)


def choose_first(history: History) -> Try | Outcome:
    """Choose the first load; lower if the driver cannot offer the start."""
    method, driver_limit = history.method, history.driver_limit
    if driver_limit is None:
        return Try(method.load(method.start), "bracket", "the first load")
    why = f"the driver could not do {method.with_unit(driver_limit)}"
    if driver_limit <= method.lowest:
        return conclude(history, "driver", f"{why}, the fewest that may be tried")
    return Try(method.load(min(driver_limit / 2, method.start)), "bracket", f"fewer, because {why}")


def halve(history: History) -> Try | Outcome:
    method, least = history.method, history.loads_missed[0]
    if least > method.lowest and lowest_should_miss(history):
        return Try(method.lowest, "bracket", "fewer missed by hardly less: the fewest that may be tried")
    if least > method.lowest:
        return Try(method.load(least / 2), "bracket", f"{method.with_unit(least)} missed already: half as many")
    at_lowest, most = history.trials_at(least), history.loads_missed[-1]
    if len(at_lowest) > 1 and not any(map(is_clear_miss, history.counted)) and can_double(most, history):
        return Try(method.load(2 * most), "bracket", "all missed by so little that it may be chance: twice as many")
    if len(at_lowest) > 1 or is_clear_miss(at_lowest[0]):
        return end_at_lowest(history, least)
    return Try(least, "repeat", "the fewest that may be tried missed by so little that it may be chance")


def lowest_should_miss(history: History) -> bool:
    """Whether the excess, extrapolated to the lowest load, is a clear miss there too."""
    known = {trial.load: trial.excess for trial in history.counted if trial.excess is not None and not trial.against}
    if len(known) < 2:
        return False
    (least, near), (more, far) = sorted(known.items())[:2]
    slope = max(far - near, 0.0) / math.log(more / least)
    return near - slope * math.log(least / history.method.lowest) > CLEAR


def end_at_lowest(history: History, load: float) -> Outcome:
    fewest = f"{history.method.with_unit(load)}, the fewest that may be tried"
    return conclude(history, "lowest", f"{fewest}, missed the objective already")


def end_at_highest(history: History, most: float) -> Try | Outcome:
    """Confirm the largest load that could be tried, or end: nothing missed up to it."""
    method, driver_limit = history.method, history.driver_limit
    end = f"the driver could not do {method.with_unit(driver_limit)}" if driver_limit else "no more may be tried"
    if not history.confirmations and method.rule == "regression":
        return Try(most, "confirm", f"it met the objective, and {end}: {method.confirmations} trials confirm it")
    if driver_limit is not None:
        return conclude(history, "driver", end)
    return conclude(history, "highest", f"{method.with_unit(most)}, the most that may be tried, met the objective")


def refine_by_regression(history: History) -> Try | Outcome:
    lower = history.loads_met[-1]
    upper = next((load for load in history.loads_missed if load > lower), lower)
    middle = history.method.load(math.sqrt(lower * upper))
    if upper > WIDE * lower and lower < middle < upper and not exceeds_driver(middle, history):
        number = history.method.number
        return Try(middle, "bracket", f"between {number(lower)}, which met it, and {number(upper)}, which missed")
    estimate = by_regression.estimate_limit(history)
    ask = by_regression.next_near_limit(history, estimate) if estimate else None
    return ask or conclude(history, "host", "")


def refine_by_rfc9971(history: History) -> Try | Outcome:
    if (load := rfc9971.undecided_load(history)) is not None and not exceeds_driver(load, history):
        tried = history.trials_at(load)
        missed = sum(not trial.met for trial in tried)
        return Try(load, "repeat", f"not decided: {missed} of {many(len(tried), 'trial')} there missed")
    lower, upper = rfc9971.find_bounds(history)
    if lower is not None and upper is not None:
        return rfc9971.bisect(history, lower, upper) or conclude(history, "host", "")
    return widen(history, lower, upper)


def widen(history: History, lower: float | None, upper: float | None) -> Try | Outcome:
    method = history.method
    if upper is not None:
        if upper <= method.lowest:
            return end_at_lowest(history, upper)
        return Try(method.load(upper / 2), "bracket", f"{method.with_unit(upper)} is an upper bound: half as many")
    if lower is not None and can_double(lower, history):
        return Try(method.load(2 * lower), "bracket", f"{method.with_unit(lower)} is a lower bound: twice as many")
    return end_at_highest(history, lower if lower is not None else history.loads_met[-1])
