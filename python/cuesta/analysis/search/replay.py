"""Replays all trials of a search: the decision before each, the estimate after it, and the next trial or the result.

It is pure, so that a search which was killed resumes from the trials in its folder.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.search import by_regression
from cuesta.analysis.search.conclusion import conclude
from cuesta.analysis.search.decision import decide
from cuesta.analysis.search.history import History
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import LimitEstimate, Outcome, Try
from cuesta.analysis.search.regression import Observation, fit_line, observe
from cuesta.analysis.search.trial import Trial


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One trial of a replay."""

    trial: Trial
    decision: Try | None
    """The decision that led to it; None if none did."""
    observations: tuple[Observation, ...]
    """All trials that count, up to this one."""

    @property
    def estimate(self) -> LimitEstimate | None:
        """The estimate of the limit; None before a trial passed and one missed."""
        return fit_line(self.observations)

    def rounded_estimate(self, method: Method) -> tuple[float, float, float] | None:
        """The limit and its 90 % interval, as loads that can be tried."""
        return by_regression.round_estimate(self.estimate, method) if self.estimate else None


@dataclass(frozen=True, slots=True)
class Replay:
    """A search after some trials."""

    history: History
    rows: list[TrialRow]
    """All trials."""
    next: Try | Outcome
    """The next trial, or the result."""
    recovery: Try | None = None
    """The decision that led to the trial in which the host did not recover."""

    @property
    def resumed(self) -> Try | Outcome:
        """As `next`, for a search that was ended and is resumed: a host that had stopped may have been restarted."""
        return self.recovery if self.recovery and self.history.unrecovered else self.next

    def conclude(self, why: str) -> Outcome:
        """Sum up when time has run out or the user stops the search; `why` is that reason, a clause."""
        return self.next if isinstance(self.next, Outcome) else conclude(self.history, "budget", why)


def replay(trials: Sequence[Trial], method: Method) -> Replay:
    """Replay trials.

    A trial counts even if the method, given the trials before it, would have chosen another load. One that was cut
    short is repeated; one at a load that these settings do not allow is ignored.
    """
    history, rows, recovery = History(method), list[TrialRow](), None
    decision = decide(history)
    for trial in trials:
        asked_for = decision if isinstance(decision, Try) else None
        if not trial.cut_short and method.allows(trial.load):
            history.add(trial, decision)
            recovery = asked_for if history.unrecovered is trial else recovery
            decision = decide(history)
        rows.append(TrialRow(trial, asked_for, observe(history.counted)))
    return Replay(history, rows, decision, recovery)
