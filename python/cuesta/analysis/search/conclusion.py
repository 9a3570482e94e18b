"""The result: what all trials together say when a search ends, for whatever reason."""

from cuesta.analysis.certainty import student
from cuesta.analysis.search import by_regression, rfc9971
from cuesta.analysis.search.history import History
from cuesta.analysis.search.outcome import LimitedBy, Outcome, Span
from cuesta.analysis.search.regression import noise_of, observations

LACKING = "arrivals waited for a free user, and without that wait the objective was met"
"""What says that users were too few for a rate."""

FREEDOM = 4
"""Degrees of freedom of the noise that loads with a single trial are judged by."""


def outcome_of(history: History, limited_by: LimitedBy, why: str) -> Outcome:
    """Sum up; `why` is empty for a search that found what it looked for."""
    users, interval = estimate(history)
    if few := lacks_users(history, users):
        interval = (interval[0], None)
    if limited_by in {"host", "lowest"} and few:
        limited_by, why = "users", ""
    elif limited_by == "host" and gave_out(history):
        limited_by = "host gave out"
    regular = limited_by in {"host", "host gave out"} and not history.unsettled
    return Outcome(
        users=users,
        interval=interval,
        certified=history.certified,
        breach=breach(history, users),
        trials=history.trials,
        verdict="regular" if regular else "irregular",
        limited_by=limited_by,
        why=sentence(history, limited_by, why),
        driver_limit=history.driver_limit,
        lacks_users=few,
    )


def estimate(history: History) -> tuple[float | None, Span]:
    """The largest load that meets the objective, and the interval that the limit is in."""
    if history.method.rule == "rfc9971":
        lower, upper = rfc9971.bounds(history)
        return lower, (lower, upper)
    if believed := by_regression.belief(history):
        point, low, high = by_regression.rounded(believed, history.method)
        return point, (low, high)
    most = history.met[-1] if history.met else None
    least = history.missed[0] if history.missed else None
    return most, (most, least)


def lacks_users(history: History, users: float | None) -> bool:
    """Whether at least half of the trials that missed at the limit, up to twice that load, did so for want of users."""
    missed = [trial for trial in history.counted if not trial.met]
    least = users if users is not None else min((trial.load for trial in missed), default=0.0)
    near = [trial for trial in missed if least <= trial.load <= 2 * least]
    return bool(near) and 2 * sum(trial.lacked_users for trial in near) >= len(near)


def gave_out(history: History) -> bool:
    """Whether the trials that missed did so because the host stopped working, not because it was slow."""
    missed = [trial for trial in history.counted if not trial.met]
    return bool(missed) and all(trial.gave_out for trial in missed)


def breach(history: History, users: float | None) -> float | None:
    """The smallest load at which the lower 95 % bound of the excess is above zero, or at which the host gave out.

    It is above `users` and what was certified: by all trials together, a load below that missed did so by chance. A
    trial that lacked users says nothing about its load.
    """
    noise = noise_of(observations(history.counted)) * 2**0.5
    most = max(users or 0.0, history.certified or 0.0)
    for load in sorted({trial.load for trial in history.counted if trial.load > most}):
        tried = [trial for trial in history.at(load) if not trial.lacked_users]
        known = [trial.excess for trial in tried if trial.excess is not None]
        if known and sum(known) / len(known) > student(FREEDOM) * noise / len(known) ** 0.5:
            return load
        if tried and all(trial.against for trial in tried):
            return load
    return None


def sentence(history: History, limited_by: LimitedBy, why: str) -> str:
    """Why the search ended so."""
    if why:
        return why
    if limited_by == "users":
        return f"at higher rates {LACKING}: use more --users"
    reasons = [reason for trial in history.counted if trial.gave_out for reason in trial.against]
    if limited_by == "host gave out" and reasons:
        return f"beyond the limit the host gave out: {reasons[-1]}"
    named = history.method.written
    if history.method.rule == "rfc9971":
        lower, upper = rfc9971.bounds(history)
        return f"{named(lower or 0)} is a lower bound and {named(upper or 0)} an upper one, by their trials"
    if history.certified is not None:
        return f"{history.method.confirmations} trials confirmed {named(history.certified)}"
    tried = ", ".join(history.method.number(each.load) for each in history.rounds)
    return f"none could be confirmed: {tried or 'none'} tried"
