"""What a search itself says about the limit, before any meter is asked."""

from typing import TYPE_CHECKING

from cuesta.analysis.capacity.findings import FewUsers, Finding, GaveOut, OfTheDriver, Undecided
from cuesta.analysis.doubts import of_the_driver
from cuesta.analysis.search import SearchResult, Trial
from cuesta.analysis.search.conclusion import LACKING

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary


def of_search(summary: "Summary", of: SearchResult) -> Finding | None:
    """What ended a search, if that was not a host that became slow; then the meters tell, and this is None."""
    found, trial = of.outcome, of.at_limit()
    if found.limited_by == "driver" and found.driver_limit is not None:
        return of_driver(summary, of, found.driver_limit)
    if found.limited_by == "doubts":
        return Undecided(found.why, "")
    if trial is None:
        return Undecided(f"no trial counts: {found.why}", "")
    if found.lacks_users:
        return FewUsers(LACKING, of.method.written(trial.load))
    return of_trial(of, trial)


def of_trial(of: SearchResult, trial: Trial) -> Finding | None:
    """What the trial at the limit says by itself, if the host did not just become slow."""
    if trial.gave_out and (of.outcome.limited_by == "host gave out" or keeps_limits(trial)):
        return GaveOut("; ".join(trial.against), of.method.written(trial.load))
    if trial.against and trial.excess is None:
        return Undecided(f"at {of.method.written(trial.load)} {'; '.join(trial.against)}", "")
    return None


def keeps_limits(trial: Trial) -> bool:
    """Whether no limit was exceeded, so that a trial missed for another reason."""
    return trial.excess is None or trial.excess <= 0


def of_driver(summary: "Summary", of: SearchResult, load: float) -> OfTheDriver:
    """The driver could not offer a load: why, by the last trial there."""
    steps = [trial.step for trial in of.trials if trial.load == load and trial.is_driver_limit]
    doubts = of_the_driver([each.doubt for each in summary.doubts if each.step == steps[-1]])
    advice = doubts[0].advice if doubts else "use another machine"
    return OfTheDriver(str(doubts[0]) if doubts else of.outcome.why, of.method.written(load), advice)
