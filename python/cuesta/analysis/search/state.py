"""How far a search is, for those who watch it: its trials, the interval after each of them, and the next load."""

import math
from typing import TYPE_CHECKING

from cuesta.analysis.search.conclusion import locate_limit
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.outcome import Outcome, Span, Try
from cuesta.analysis.search.replay import TrialRow
from cuesta.analysis.search.trial import worst_limit
from cuesta.figures.limit import Limit
from cuesta.figures.step import StepFigures
from cuesta.records.observation import SearchChoice, SearchState, SearchTrial

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary


def first_state(method: Method, objective: list[str], decision: Try | Outcome) -> SearchState:
    """A search of which no trial has ended yet."""
    return SearchState(objective=objective, load=_name_load(method), next=_choice(decision), ended=_end(decision))


def search_state(summary: "Summary", decision: Try | Outcome) -> SearchState:
    """A search after some trials; `decision` is what comes next. `summary` must be that of a search."""
    search = summary.search
    assert search
    steps = {step.step: step for step in summary.steps}
    limit, (low, high) = locate_limit(search.replay.history)
    return SearchState(
        objective=search.objective,
        load=_name_load(search.method),
        trials=[_trial(row, steps[row.trial.step], search.method) for row in search.replay.rows],
        limit=limit,
        low=low,
        high=high,
        next=_choice(decision),
        ended=_end(decision),
    )


def _name_load(method: Method) -> str:
    return "users" if method.whole else "rate"


def _choice(decision: Try | Outcome | None) -> SearchChoice | None:
    if not isinstance(decision, Try):
        return None
    return SearchChoice(load=decision.load, purpose=decision.purpose, because=decision.because)


def _end(decision: Try | Outcome) -> str | None:
    return decision.why if isinstance(decision, Outcome) else None


def _trial(row: TrialRow, step: StepFigures, method: Method) -> SearchTrial:
    trial, worst = row.trial, worst_limit(step) or next(iter(step.limits), None)
    low, high = _span(row, method)
    return SearchTrial(
        number=trial.step + 1,
        load=trial.load,
        users=step.users,
        choice=_choice(row.decision),
        limit=worst.limit if worst else None,
        value=worst.value if worst else None,
        unit=Limit.read(worst.limit).figure.unit if worst else None,
        ratio=None if trial.excess is None else math.exp(trial.excess),
        kept=trial.met if trial.counts else None,
        notes=[*trial.doubts, *trial.against],
        low=low,
        high=high,
    )


def _span(row: TrialRow, method: Method) -> Span:
    """Where the limit is after a trial: the interval of the estimate, or before that the loads that bracket it."""
    if estimate := row.rounded_estimate(method):
        return estimate[1], estimate[2]
    met = [each.load for each in row.observations if each.met]
    missed = [each.load for each in row.observations if not each.met]
    return max(met, default=None), min(missed, default=None)
