"""A search as its run folder records it: its trials, replayed, and the result."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Outcome
from cuesta.analysis.search.replay import Replay, replay
from cuesta.analysis.search.trial import Trial, judge_trials
from cuesta.figures.search import SearchFigures

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary

STOPPED = {"interrupted": "it was interrupted", "failed": "the driver failed", "cut off": "the record breaks off"}
BUDGET = "its time was spent"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A search, finished or not."""

    method: Method
    objective: list[str]
    """The limits, as written."""
    replay: Replay
    outcome: Outcome
    """The result, as far as it is known."""

    @property
    def trials(self) -> list[Trial]:
        return [row.trial for row in self.replay.rows]

    @property
    def counted(self) -> list[Trial]:
        """The trials that count; the others were repeated."""
        return self.replay.history.counted

    def at_limit(self) -> Trial | None:
        """The last miss at the smallest load at or above the limit, from which is read what sets the limit.

        If nothing missed, the last trial at the largest load; None if no trial counts.
        """
        missed = [trial for trial in self.counted if not trial.met]
        above = [trial for trial in missed if self.outcome.users is None or trial.load >= self.outcome.users]
        if above:
            return min(reversed(above), key=lambda trial: trial.load)
        return max(reversed(missed or self.counted), key=lambda trial: trial.load, default=None)

    def figures(self) -> SearchFigures:
        figures = {field.name: getattr(self.outcome, field.name) for field in fields(SearchFigures)}
        loads = {name: self._number(figures[name]) for name in ("users", "certified", "breach")}
        interval = [self._number(end) for end in self.outcome.interval]
        return SearchFigures(**{**figures, **loads, "interval": interval, "objective": self.objective})

    def _number(self, load: float | None) -> float | None:
        """A load as JSON should have it: users without a decimal point."""
        return int(load) if load is not None and self.method.whole else load


def search_result(summary: "Summary") -> SearchResult | None:
    """Read a search from its run folder; None for another run."""
    recorded = summary.recorded.run.get("search")
    if not recorded:
        return None
    method = Method.from_json(recorded["method"])
    replayed = replay(judge_trials(summary, method), method)
    outcome = replayed.conclude(recorded.get("ended") or STOPPED.get(summary.ended, BUDGET))
    return SearchResult(method, summary.recorded.plan.get("limits", []), replayed, outcome)
