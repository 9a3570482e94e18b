"""The rules by which a search chooses the next load, or ends."""

import math

from cuesta.analysis.search import by_regression, rfc9971
from cuesta.analysis.search.conclusion import outcome_of
from cuesta.analysis.search.history import MOST_DOUBTED, History
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Outcome, Try
from cuesta.analysis.search.trial import Trial

CLEAR = 0.3
"""From this excess on a single trial shows a miss, or several together: twice the usual noise of a percentile of a few
minutes."""

WIDE = 4.0
"""Loads that met and missed the objective are too far from each other for a line between them beyond this ratio."""

MOST_CHECKS = 60
"""Trials of whether the host is as before, at which a search ends."""

NEAR = 1.1
"""Loads that differ by less than this ratio are as near as a search for the driver's limit gets."""


def decide(history: History) -> Try | Outcome:
    """Decide on all trials so far."""
    if (stuck := history.stuck) is not None:
        return outcome_of(
            history,
            "doubts",
            f"trials with {history.method.written(stuck.load)} could not be trusted: {stuck.doubts[0]}",
        )
    checks = len(history.checks)
    if history.trials - checks >= most_of_all(history.method) or checks >= MOST_CHECKS:
        return outcome_of(history, "budget", f"{history.trials} trials were made")
    if history.unrecovered:
        written = history.method.written(history.unrecovered.load)
        why = f"the host stopped and did not recover: nothing was answered with {written} either"
        return outcome_of(history, "host" if history.met else "lowest", why)
    if history.constancy.is_over:
        return outcome_of(history, "changed", "")
    asked = recovery(history) or history.constancy.ask() or under_way(history)
    return asked or (refine(history) if is_bracketed(history) else bracket(history))


def most_of_all(method: Method) -> int:
    """More trials than any search needs: doubling over all loads that there are takes some sixty."""
    return 64 + MOST_DOUBTED + method.most_trials * method.trials_a_load + 3 * method.confirmations


def is_bracketed(history: History) -> bool:
    """Whether the limit is between two loads, beyond what chance may do."""
    if not history.met or not history.missed:
        return False
    above = sum(trial.excess or 0.0 for trial in history.counted if not trial.met and trial.load > history.met[-1])
    clear = [trial for trial in history.counted if is_clear_miss(trial)]
    top = max(trial.load for trial in history.counted)
    return bool(clear) or above > CLEAR or top >= history.method.highest or is_beyond(2 * top, history)


def is_clear_miss(trial: Trial) -> bool:
    """Whether a single trial shows that its load misses."""
    return not trial.met and (trial.excess is None or bool(trial.against) or trial.excess > CLEAR)


def recovery(history: History) -> Try | None:
    """After a trial without any answer: a load that the host can serve, to see whether it has stopped for good.

    Until it has recovered, no other load tells anything.
    """
    last = history.last
    if last is None or last.answers != "none":
        return None
    load = min(last.load, history.met[-1] if history.met else history.method.lowest)
    if not history.met and load == last.load:
        return None
    written = history.method.written(last.load)
    return Try(load, "recover", f"nothing was answered with {written}: the host may have to recover")


def under_way(history: History) -> Try | None:
    """The rest of what goes on: a repeat, or a confirmation."""
    for load in history.spoiled:
        if not is_beyond(load, history):
            return Try(load, "repeat", "the last trial there does not count")
    if history.confirming:
        this = history.rounds[-1]
        return Try(this.load, "confirm", f"confirming trial {len(this.trials) + 1} of {this.wanted}")
    return None


def is_beyond(load: float, history: History) -> bool:
    """Whether the driver cannot offer a load."""
    return history.driver_limit is not None and load >= history.driver_limit


def bracket(history: History) -> Try | Outcome:
    """Double to the first miss, or halve to the first load that is met."""
    method = history.method
    if not history.counted:
        return first(history)
    if not history.met:
        return downwards(history)
    most = max(trial.load for trial in history.counted)
    top = method.highest if history.driver_limit is None else history.driver_limit
    if most < top:
        load = method.load(min(2 * most, top))
        if history.driver_limit is None:
            tried = "met the objective" if most == history.met[-1] else "missed by so little that it may be chance"
            more = "twice as many" if load == 2 * most else "the most that may be tried"
            return Try(load, "bracket", f"{method.written(most)} {tried}: {more}")
        load = method.load((most * top) ** 0.5)
        if top > NEAR * most and most < load < top:
            return Try(
                load,
                "bracket",
                f"between {method.number(most)}, which met it, and {method.number(top)}, which the driver cannot do",
            )
    return at_the_top(history, most)


def can_double(load: float, history: History) -> bool:
    return load < history.method.highest and not is_beyond(history.method.load(2 * load), history)


def first(history: History) -> Try | Outcome:
    """The first trial; lower if the driver cannot offer the start."""
    method, beyond = history.method, history.driver_limit
    if beyond is None:
        return Try(method.load(method.start), "bracket", "the first load")
    if beyond <= method.lowest:
        return outcome_of(
            history, "driver", f"the driver could not do {method.written(beyond)}, the fewest that may be tried"
        )
    return Try(
        method.load(min(beyond / 2, method.start)),
        "bracket",
        f"fewer, because the driver could not do {method.written(beyond)}",
    )


def downwards(history: History) -> Try | Outcome:
    method, least = history.method, history.missed[0]
    if least > method.lowest and all_seem_to_miss(history):
        return Try(method.lowest, "bracket", "fewer missed by hardly less: the fewest that may be tried")
    if least > method.lowest:
        return Try(method.load(least / 2), "bracket", f"{method.written(least)} missed already: half as many")
    at_lowest, most = history.at(least), history.missed[-1]
    if len(at_lowest) > 1 and not any(map(is_clear_miss, history.counted)) and can_double(most, history):
        return Try(method.load(2 * most), "bracket", "all missed by so little that it may be chance: twice as many")
    if len(at_lowest) > 1 or is_clear_miss(at_lowest[0]):
        return outcome_of(
            history, "lowest", f"{method.written(least)}, the fewest that may be tried, missed the objective already"
        )
    return Try(least, "repeat", "the fewest that may be tried missed by so little that it may be chance")


def all_seem_to_miss(history: History) -> bool:
    """Whether the excess falls so slowly from load to load that the lowest one should miss clearly too."""
    known = {trial.load: trial.excess for trial in history.counted if trial.excess is not None and not trial.against}
    if len(known) < 2:
        return False
    (least, near), (more, far) = sorted(known.items())[:2]
    slope = max(far - near, 0.0) / math.log(more / least)
    return near - slope * math.log(least / history.method.lowest) > CLEAR


def at_the_top(history: History, most: float) -> Try | Outcome:
    """Nothing missed up to the largest load that could be tried: confirm that one."""
    method, beyond = history.method, history.driver_limit
    end = "no more may be tried" if beyond is None else f"the driver could not do {method.written(beyond)}"
    if not history.rounds and method.rule == "regression":
        return Try(most, "confirm", f"it met the objective, and {end}: {method.confirmations} trials confirm it")
    if beyond is not None:
        return outcome_of(history, "driver", end)
    return outcome_of(history, "highest", f"{method.written(most)}, the most that may be tried, met the objective")


def refine(history: History) -> Try | Outcome:
    """Some load is met and some load is missed: look between them."""
    return refine_by_rfc9971(history) if history.method.rule == "rfc9971" else refine_by_regression(history)


def refine_by_regression(history: History) -> Try | Outcome:
    lower = history.met[-1]
    upper = next((load for load in history.missed if load > lower), lower)
    middle = history.method.load(math.sqrt(lower * upper))
    if upper > WIDE * lower and lower < middle < upper and not is_beyond(middle, history):
        number = history.method.number
        return Try(middle, "bracket", f"between {number(lower)}, which met it, and {number(upper)}, which missed")
    believed = by_regression.belief(history)
    ask = by_regression.between(history, believed) if believed else None
    return ask or outcome_of(history, "host", "")


def refine_by_rfc9971(history: History) -> Try | Outcome:
    if (load := rfc9971.undecided(history)) is not None and not is_beyond(load, history):
        return rfc9971.again(load, history.at(load))
    lower, upper = rfc9971.bounds(history)
    if lower is not None and upper is not None:
        return rfc9971.between(history, lower, upper) or outcome_of(history, "host", "")
    return widen(history, lower, upper)


def widen(history: History, lower: float | None, upper: float | None) -> Try | Outcome:
    method = history.method
    if upper is not None:
        if upper <= method.lowest:
            return outcome_of(
                history,
                "lowest",
                f"{method.written(upper)}, the fewest that may be tried, missed the objective already",
            )
        return Try(method.load(upper / 2), "bracket", f"{method.written(upper)} is an upper bound: half as many")
    if lower is not None and can_double(lower, history):
        return Try(method.load(2 * lower), "bracket", f"{method.written(lower)} is a lower bound: twice as many")
    return at_the_top(history, lower if lower is not None else history.met[-1])
