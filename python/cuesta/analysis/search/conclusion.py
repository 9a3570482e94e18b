"""The result of a search, from all of its trials."""

from collections.abc import Sequence

from cuesta.analysis.certainty import student
from cuesta.analysis.search import by_regression, rfc9971
from cuesta.analysis.search.history import History
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import HostChange, LimitedBy, Outcome, Span
from cuesta.analysis.search.regression import estimate_noise, observe
from cuesta.analysis.search.trial import Trial
from cuesta.units import digits, seconds

LACKING = "arrivals waited for a free user, and without that wait the objective was met"
"""The reason of a trial that lacked users for its rate."""

FREEDOM = 4
"""Degrees of freedom of the noise that loads with a single trial are judged by."""


def conclude(history: History, limited_by: LimitedBy, why: str) -> Outcome:
    """Sum up a search; `why` is the reason for which it ended, a clause, empty if it reached its goal."""
    users, interval = locate_limit(history)
    if lacks_users := not history.unrecovered and misses_for_want_of_users(history, users):
        interval = (interval[0], None)
    if limited_by in {"host", "lowest"} and lacks_users:
        limited_by, why = "users", ""
    elif limited_by == "host" and history.loads_missed and all(t.met or t.failed_outright for t in history.counted):
        limited_by = "host gave out"
    is_complete = limited_by != "changed" and not (history.unsettled or history.unrecovered) and is_confirmed(history)
    regular = is_complete and limited_by in {"host", "host gave out"}
    return Outcome(
        objective=[],  # SearchResult.figures fills it in
        load="users" if history.method.whole else "rate",
        users=users,
        interval=interval,
        certified=history.certified,
        breach=find_breach(history, users),
        trials=history.trial_count,
        verdict="regular" if regular else "irregular",
        limited_by=limited_by,
        why=explain_end(history, limited_by, why),
        driver_limit=history.driver_limit,
        change=history.constancy.change,
        lacks_users=lacks_users,
    )


def locate_limit(history: History) -> tuple[float | None, Span]:
    """Find the largest load that meets the objective, and the interval that the limit is in."""
    if history.method.rule == "rfc9971":
        lower, upper = rfc9971.find_bounds(history)
        return lower, (lower, upper)
    if estimate := by_regression.estimate_limit(history):
        point, low, high = by_regression.round_estimate(estimate, history.method)
        return point, (low, high)
    most = history.loads_met[-1] if history.loads_met else None
    least = history.loads_missed[0] if history.loads_missed else None
    return most, (most, least)


def misses_for_want_of_users(history: History, users: float | None) -> bool:
    """Whether at least half of the misses from the limit to twice that load were for want of free users."""
    missed = [trial for trial in history.counted if not trial.met]
    least = users if users is not None else min((trial.load for trial in missed), default=0.0)
    near = [trial for trial in missed if least <= trial.load <= 2 * least]
    return bool(near) and 2 * sum(trial.lacked_users for trial in near) >= len(near)


def find_breach(history: History, users: float | None) -> float | None:
    """The smallest load that was shown to miss: by the lower bound of its excess, or by hard failures.

    Only loads above `users` and the confirmed load are considered: by all trials together, a lower one missed by
    chance. Trials that lacked users are left out.
    """
    most = max(users or 0.0, history.certified or 0.0)
    above = [trial for trial in history.counted if trial.load > most and not trial.lacked_users]
    rows = observe(history.counted)
    for load in sorted({trial.load for trial in above}):
        if misses_by_bound(load, above, estimate_noise(rows, load)) or fails_outright(load, above):
            return load
    return None


def misses_by_bound(load: float, trials: Sequence[Trial], scale: float) -> bool:
    """Whether the lower 95 % bound of the mean excess at a load is above zero; `scale` is that of the noise there."""
    noise = scale * 2**0.5
    known = [trial.excess for trial in trials if trial.load == load and trial.excess is not None]
    return bool(known) and sum(known) / len(known) > student(FREEDOM) * noise / len(known) ** 0.5


def fails_outright(load: float, trials: Sequence[Trial]) -> bool:
    """Whether at least two trials at a load or below it failed outright, more than passed.

    A single hard failure may be chance; a load above one that fails fails too. A load that never settled did not fail
    outright.
    """
    up_to = [trial for trial in trials if trial.load <= load]
    failed = sum(trial.failed_outright or bool(trial.against and trial.settled) for trial in up_to)
    return failed >= 2 and failed > sum(trial.met for trial in up_to)


def explain_end(history: History, limited_by: LimitedBy, why: str) -> str:
    """Say why the search ended, and how the host changed meanwhile."""
    change = history.constancy.change
    reason = why or ("" if limited_by == "changed" and change else explain_limit(history, limited_by))
    return "; ".join(part for part in (reason, describe_change(change, history.method) if change else "") if part)


def explain_limit(history: History, limited_by: LimitedBy) -> str:
    if limited_by == "users":
        return f"at higher rates {LACKING}: use more --users"
    reasons = [reason for trial in history.counted if trial.failed_outright for reason in trial.against]
    if limited_by == "host gave out" and reasons:
        outright = f"beyond the limit the host gave out: {reasons[-1]}"
        return outright if is_confirmed(history) else f"{outright}; {name_unconfirmed(history)}"
    named = history.method.with_unit
    if history.method.rule == "rfc9971":
        lower, upper = rfc9971.find_bounds(history)
        return f"{named(lower or 0)} is a lower bound and {named(upper or 0)} an upper one, by their trials"
    if history.certified is not None:
        return f"{history.method.confirmations} trials confirmed {named(history.certified)}"
    return name_unconfirmed(history)


def describe_change(change: HostChange, method: Method) -> str:
    """Say at which load the host changed, after which failure, by how much, and when it recovered."""
    named = method.with_unit
    before, then = (
        "nothing measured" if level is None else f"{digits(level)} of the limit"
        for level in (change.before, change.then)
    )
    worse = (
        f"the host has changed: {named(change.load)} met the objective at first ({before}), and after "
        f"{named(change.missed)} missed it was worse there ({then})"
    )
    if change.recovered_after is not None:
        return f"{worse}; it was as before {seconds(change.recovered_after)} later"
    now = "no smaller load that was tried met it" if change.level is None else f"{named(change.level)} still met it"
    return f"{worse}, and did not come back; {now}"


def is_confirmed(history: History) -> bool:
    """Whether a load was confirmed, or the rule needs no confirmation."""
    return history.method.rule == "rfc9971" or history.certified is not None


def name_unconfirmed(history: History) -> str:
    """Say that no load was confirmed, and name those that were tried."""
    tried = [history.method.number(failed.load) for failed in history.confirmations]
    which = f", neither {' nor '.join(tried)}" if len(tried) > 1 else "".join(f", not even {load}" for load in tried)
    return f"no load could be confirmed{which}"
