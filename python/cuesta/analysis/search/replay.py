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
from cuesta.analysis.search.regression import Observation, fit, observe
from cuesta.analysis.search.trial import Trial


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One trial of a replay."""

    trial: Trial
    ask: Try | None
    """The decision that led to it; None if none did."""
    seen: tuple[Observation, ...]
    """All trials that count up to this one."""

    @property
    def estimate(self) -> LimitEstimate | None:
        """The estimate of the limit; None before a trial passed and one missed."""
        return fit(self.seen)

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
    again: Try | None = None
    """The decision that led to the trial in which the host did not recover."""

    @property
    def resumed(self) -> Try | Outcome:
        """As `next`, for a search that was ended and goes on: a host that had stopped may have been started again."""
        return self.again if self.again and self.history.unrecovered else self.next

    @property
    def counted(self) -> list[Trial]:
        """The trials that count."""
        return self.history.counted

    def conclude(self, why: str) -> Outcome:
        """Sum up when time has run out or the user stops the search; `why` is that reason, a clause."""
        return self.next if isinstance(self.next, Outcome) else conclude(self.history, "budget", why)


def replay(trials: Sequence[Trial], method: Method) -> Replay:
    """Replay trials.

    A trial counts even if the method, given the trials before it, would have chosen another load. One that was cut
    short is made again; one at a load that no search with these settings asks for is none of its trials.
    """
    history, rows, again = History(method), list[TrialRow](), None
    ask = decide(history)
    for trial in trials:
        asked = ask if isinstance(ask, Try) else None
        if not trial.cut_short and method.allows(trial.load):
            history.add(trial, ask)
            again = asked if history.unrecovered is trial else again
            ask = decide(history)
        rows.append(TrialRow(trial, asked, observe(history.counted)))
    return Replay(history, rows, ask, again)
