"""A search as its run folder tells it: each trial with what led to it and what it led to believe, and the result."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuesta.analysis.search.by_regression import rounded
from cuesta.analysis.search.decision import belief, conclude, counted, decide
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Outcome, Try
from cuesta.analysis.search.trial import Trial, excess, trials_of
from cuesta.figures.search import SearchFigures
from cuesta.figures.step import LimitResult, StepFigures

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary

STOPPED = {"interrupted": "it was interrupted", "failed": "the driver failed", "cut off": "the record breaks off"}
BUDGET = "its time was spent"


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One trial in its place."""

    trial: Trial
    ask: Try | None
    """None for a trial that nothing asked for."""
    believed: tuple[float, float, float] | None
    """After the trial: the limit and its 90 % interval, as loads that can be tried."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A search, finished or not."""

    method: Method
    objective: list[str]
    """The limits, as written."""
    trials: list[Trial]
    ask: Try | Outcome
    """What is to be done next."""
    outcome: Outcome
    """What is known by now."""

    @property
    def counted(self) -> list[Trial]:
        """The trials that count; the others were repeated."""
        return counted(self.trials, self.method)

    def at_limit(self) -> Trial | None:
        """The trial that tells what sets the limit: the last that missed at the smallest load at or above the limit.

        If nothing missed it is the last at the largest load; None if no trial counts.
        """
        missed = [trial for trial in self.counted if not trial.met]
        above = [trial for trial in missed if self.outcome.users is None or trial.load >= self.outcome.users]
        if above:
            return min(reversed(above), key=lambda trial: trial.load)
        return max(reversed(missed or self.counted), key=lambda trial: trial.load, default=None)

    def rows(self) -> list[TrialRow]:
        """Replay the search: for each trial, the decision before it and the belief after it."""
        rows = []
        for number, trial in enumerate(self.trials):
            ask = decide(self.trials[:number], self.method)
            known = belief(self.trials[: number + 1], self.method)
            believed = rounded(known, self.method) if known else None
            rows.append(TrialRow(trial, ask if isinstance(ask, Try) else None, believed))
        return rows

    @staticmethod
    def worst_limit(step: StepFigures) -> LimitResult | None:
        """The limit that a step exceeds most, or is nearest to; None if none could be measured."""
        known = [(far, each) for each in step.limits if (far := excess(each)) is not None]
        return max(known, key=lambda each: each[0])[1] if known else None

    def figures(self) -> SearchFigures:
        found = self.outcome
        return SearchFigures(
            objective=self.objective,
            load="users" if self.method.whole else "rate",
            users=self._number(found.users),
            interval=[self._number(end) for end in found.interval],
            certified=self._number(found.certified),
            breach=self._number(found.breach),
            trials=found.trials,
            verdict=found.verdict,
            limited_by=found.limited_by,
            why=found.why,
        )

    def _number(self, load: float | None) -> float | None:
        """A load as JSON should have it: users without a decimal point."""
        return int(load) if load is not None and self.method.whole else load


def search_result(summary: "Summary") -> SearchResult | None:
    """Read a search from its run folder; None for another run."""
    recorded = summary.recorded.run.get("search")
    if not recorded:
        return None
    method = Method.of(recorded["method"])
    trials = trials_of(summary, method)
    why = recorded.get("ended") or STOPPED.get(summary.ended, BUDGET)
    ask, outcome = decide(trials, method), conclude(trials, method, why)
    return SearchResult(method, summary.recorded.plan.get("limits", []), trials, ask, outcome)
