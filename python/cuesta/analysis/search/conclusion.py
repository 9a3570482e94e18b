"""The result: what all trials together say when a search ends, for whatever reason."""

from collections.abc import Sequence

from cuesta.analysis.certainty import student
from cuesta.analysis.search import by_regression, rfc9971
from cuesta.analysis.search.history import History
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Change, LimitedBy, Outcome, Span
from cuesta.analysis.search.regression import noise_of, observations
from cuesta.analysis.search.trial import Trial
from cuesta.units import digits, seconds

LACKING = "arrivals waited for a free user, and without that wait the objective was met"
"""What says that users were too few for a rate."""

FREEDOM = 4
"""Degrees of freedom of the noise that loads with a single trial are judged by."""


def outcome_of(history: History, limited_by: LimitedBy, why: str) -> Outcome:
    """Sum up; `why` is empty for a search that found what it looked for."""
    users, interval = estimate(history)
    if few := not history.unrecovered and lacks_users(history, users):
        interval = (interval[0], None)
    if limited_by in {"host", "lowest"} and few:
        limited_by, why = "users", ""
    elif limited_by == "host" and gave_out(history):
        limited_by = "host gave out"
    is_complete = limited_by != "changed" and not (history.unsettled or history.unrecovered) and is_shown(history)
    regular = is_complete and limited_by in {"host", "host gave out"}
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
        change=history.constancy.change,
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
    """The smallest load that was shown to miss: by a bound on its excess, or by trials that missed for other reasons.

    It is above `users` and what was certified: by all trials together, a load below that missed did so by chance. A
    trial that lacked users says nothing about its load.
    """
    most = max(users or 0.0, history.certified or 0.0)
    above = [trial for trial in history.counted if trial.load > most and not trial.lacked_users]
    seen = observations(history.counted)
    loads = sorted({trial.load for trial in above})
    return next((load for load in loads if exceeds(load, above, noise_of(seen, load)) or fails(load, above)), None)


def exceeds(load: float, trials: Sequence[Trial], scale: float) -> bool:
    """Whether the lower 95 % bound of the mean excess at a load is above zero, by the scale of the noise there."""
    noise = scale * 2**0.5
    known = [trial.excess for trial in trials if trial.load == load and trial.excess is not None]
    return bool(known) and sum(known) / len(known) > student(FREEDOM) * noise / len(known) ** 0.5


def fails(load: float, trials: Sequence[Trial]) -> bool:
    """Whether two trials, and more than were met, missed for another reason than the limits at a load or below it.

    A host may give out once by chance, but hardly twice; and what a load cannot do, none above it can. That a load did
    not settle is no such reason.
    """
    up_to = [trial for trial in trials if trial.load <= load]
    failed = sum(trial.gave_out or bool(trial.against and trial.settled) for trial in up_to)
    return failed >= 2 and failed > sum(trial.met for trial in up_to)


def sentence(history: History, limited_by: LimitedBy, why: str) -> str:
    """Why the search ended so, and how the host has changed meanwhile."""
    change = history.constancy.change
    said = why or ("" if limited_by == "changed" and change else _reason(history, limited_by))
    return "; ".join(part for part in (said, changed(change, history.method) if change else "") if part)


def _reason(history: History, limited_by: LimitedBy) -> str:
    if limited_by == "users":
        return f"at higher rates {LACKING}: use more --users"
    reasons = [reason for trial in history.counted if trial.gave_out for reason in trial.against]
    if limited_by == "host gave out" and reasons:
        said = f"beyond the limit the host gave out: {reasons[-1]}"
        return said if is_shown(history) else f"{said}; {unconfirmed(history)}"
    named = history.method.written
    if history.method.rule == "rfc9971":
        lower, upper = rfc9971.bounds(history)
        return f"{named(lower or 0)} is a lower bound and {named(upper or 0)} an upper one, by their trials"
    if history.certified is not None:
        return f"{history.method.confirmations} trials confirmed {named(history.certified)}"
    return unconfirmed(history)


def changed(change: Change, method: Method) -> str:
    """How the host has changed: at which load, after what, from which level to which, and when it came back."""
    named = method.written
    levels = [
        f"{digits(each)} of the limit" if each is not None else "nothing measured"
        for each in (change.before, change.then)
    ]
    said = (
        f"the host has changed: {named(change.load)} met the objective at first ({levels[0]}), and after "
        f"{named(change.after)} missed it was worse there ({levels[1]})"
    )
    if change.recovered_after is not None:
        return f"{said}; it was as before {seconds(change.recovered_after)} later"
    now = "no smaller load that was tried met it" if change.level is None else f"{named(change.level)} still met it"
    return f"{said}, and did not come back; {now}"


def is_shown(history: History) -> bool:
    """Whether trials confirmed a load, or a rule without confirmation decided."""
    return history.method.rule == "rfc9971" or history.certified is not None


def unconfirmed(history: History) -> str:
    """That no load was confirmed, and which ones were tried."""
    tried = [history.method.number(each.load) for each in history.rounds]
    which = f", neither {' nor '.join(tried)}" if len(tried) > 1 else "".join(f", not even {each}" for each in tried)
    return f"no load could be confirmed{which}"
