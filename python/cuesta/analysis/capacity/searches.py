"""What a search shows of the limit by itself, before any meter is read."""

from typing import TYPE_CHECKING

from cuesta.analysis.capacity.findings import DriverLimited, FewUsers, Finding, GaveOut, Undecided
from cuesta.analysis.doubts import select_driver_doubts
from cuesta.analysis.search import SearchResult, Trial
from cuesta.analysis.search.conclusion import LACKING

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary


def judge_search(summary: "Summary") -> Finding | None:
    """What ended a search; None if there was none, or if the host became slow, which the meters explain."""
    search = summary.search
    if search is None:
        return None
    outcome, trial = search.outcome, search.at_limit()
    if outcome.limited_by == "driver" and outcome.driver_limit is not None:
        return judge_driver(summary, search, outcome.driver_limit)
    if outcome.limited_by == "doubts":
        return Undecided(outcome.why, "")
    if trial is None:
        return Undecided(f"no trial counts: {outcome.why}", "")
    if outcome.lacks_users:
        return FewUsers(LACKING, search.method.with_unit(trial.load))
    return find_trial_limit(search, trial)


def find_trial_limit(search: SearchResult, trial: Trial) -> Finding | None:
    """What the trial at the limit shows by itself, unless the host just became slow."""
    load, against = search.method.with_unit(trial.load), "; ".join(trial.against)
    met_limits = trial.excess is None or trial.excess <= 0
    if trial.failed_outright and (search.outcome.limited_by == "host gave out" or met_limits):
        return GaveOut(against, load)
    return Undecided(f"at {load} {against}", "") if against and trial.excess is None else None


def judge_driver(summary: "Summary", search: SearchResult, load: float) -> DriverLimited:
    """Why the driver could not offer a load, by the last trial there."""
    steps = [trial.step for trial in search.trials if trial.load == load and trial.is_driver_limit]
    doubts = select_driver_doubts([each.doubt for each in summary.doubts if each.step == steps[-1]])
    advice = doubts[0].advice if doubts else "use another machine"
    return DriverLimited(str(doubts[0]) if doubts else search.outcome.why, search.method.with_unit(load), advice)
