"""The trials of a search: the steps of its run folder, each judged against the objective."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cuesta.analysis.doubts import Doubt, agent_failed, select_driver_doubts
from cuesta.analysis.limits import NOT_DECIDED, number_of_values
from cuesta.analysis.search.method import Method
from cuesta.analysis.search.objections import list_failures, list_objections
from cuesta.figures.limit import Limit
from cuesta.figures.reference import Reference
from cuesta.figures.step import LimitResult, StepFigures
from cuesta.plan.fields import Load
from cuesta.units import many, seconds

if TYPE_CHECKING:
    from cuesta.analysis.summary import DerivedStep, Summary

Answers = Literal["some", "none", "not asked"]
"""How much the host answered in a trial; `not asked` if no user waited for anything."""

MOST_EXCESS = math.log(1000)
"""Largest absolute excess: 0 errors are not infinitely good."""

MOST_CUT = 0.1
"""Largest share of its planned time that a trial may lack."""

ENOUGH = 10
"""Fewest values that a limited figure must rest on for its trial to pass."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One step of the run folder, judged."""

    step: int
    """Its number in the run, from 0."""
    load: float
    """Users, or arrivals a second."""
    excess: float | None
    """The natural logarithm of the worst figure's ratio to its limit, above 0 if that is exceeded; None if a figure was
    not measured and the other limits are met."""
    met: bool
    """Whether the trial passed: every limit was kept, and there is no objection."""
    against: list[str]
    """Objections: reasons besides the limits why it misses the objective, such as errors or lost users."""
    doubts: list[str]
    """Why the trial does not count and is repeated."""
    is_driver_limit: bool
    """Whether the driver, not the host, could not sustain the load."""
    settled: bool
    """Whether it was in steady state."""
    seconds: float
    """Length of the measurement interval."""
    failed_outright: bool = False
    """Whether it is a hard failure: the host refused users, lost them or left them without an answer."""
    answers: Answers = "some"
    """`none` if nothing was answered that users waited for: the host may have stopped for good."""
    stolen: bool = False
    """Whether the hypervisor took CPU time, so that the trial shows nothing about host or driver."""
    cut_short: bool = False
    """Whether the search was stopped during the trial."""
    ended: float = 0.0
    """The instant at which its measurement ended, in seconds of the run."""
    lacked_users: bool = False
    """Whether it missed only because arrivals of an open load waited for a free user, not for the host."""

    @property
    def counts(self) -> bool:
        return not self.doubts


def judge_trials(summary: "Summary", method: Method) -> list[Trial]:
    """Judge each measured step of a search's folder."""
    measured = [step for step in summary.steps if step.seconds]
    last_steps = {steps[-1] for segment in summary.recorded.run.get("segments", []) if (steps := segment.get("steps"))}
    return [
        judge_trial(
            step,
            summary.derived[step.step],
            method,
            [
                *(about.doubt for about in summary.doubts if about.step == step.step),
                *(list_lost_agents(summary, step) if step is measured[-1] else []),
            ],
            may_be_cut_short=step.step in last_steps or step is measured[-1],
        )
        for step in measured
    ]


def list_lost_agents(summary: "Summary", last: StepFigures) -> list[Doubt]:
    """Doubts about agents that failed in the last step, or recorded nothing of it."""
    # One that died is missing from the trials after its death; those before it count.
    failed = [about.doubt for about in summary.doubts if about.doubt.name == "failed"]
    recorded = {figures.agent for figures in last.agents}
    missing = (agent for agent in summary.recorded.last_agents if agent.number not in recorded)
    return [*failed, *(agent_failed(agent, "it recorded nothing of this trial") for agent in missing)]


def judge_trial(
    step: StepFigures,
    derived: "DerivedStep",
    method: Method,
    doubts: Sequence[Doubt],
    *,
    may_be_cut_short: bool = False,
) -> Trial:
    """Judge a step by its figures and the doubts about it; `may_be_cut_short` if the search may have ended in it."""
    figures = [Limit.read(result.limit).figure for result in step.limits]
    limits = {figure.metric for figure in figures}
    against = list_objections(step, doubts, limits)
    worst, is_short = worst_excess(step), step.seconds < (1 - MOST_CUT) * step.planned_seconds
    met = all(result.ok for result in step.limits) and not against
    spoiling = [doubt for doubt in doubts if doubt.blames != "host" and not is_harmless(doubt, step, met)]
    failed_outright = bool(list_failures(step, doubts, limits))
    is_slow = any(doubt.trial == "slow" for doubt in doubts)
    return Trial(
        step=step.step,
        load=read_load(step, method),
        excess=worst,
        met=met,
        against=against,
        doubts=[
            *map(str, spoiling),
            *([f"only {seconds(step.seconds)} of {seconds(step.planned_seconds)} were measured"] if is_short else []),
            *(list_rare_figures(step, figures) if met else []),
            *(list_undecided_limits(step) if worst is None and not against else []),
        ],
        is_driver_limit=bool(select_driver_doubts(spoiling)),
        settled=not any(doubt.trial == "unsettled" for doubt in doubts),
        seconds=step.seconds,
        failed_outright=failed_outright,
        answers=classify_answers(step, doubts),
        stolen=any(doubt.blames == "hypervisor" for doubt in spoiling),
        cut_short=is_short and may_be_cut_short,
        ended=derived.ended,
        lacked_users=derived.lacks_users and not (met or failed_outright or is_slow),
    )


def classify_answers(step: StepFigures, doubts: Sequence[Doubt]) -> Answers:
    """Tell how much the host answered. A transaction that ended by silence was not answered."""
    if step.transactions.count - step.silent + step.echo.count:
        return "some"
    was_asked = bool(step.errors.count) or any(doubt.trial in {"stopped", "failed"} for doubt in doubts)
    return "none" if was_asked else "not asked"


def is_harmless(doubt: Doubt, step: StepFigures, met: bool) -> bool:
    """Whether a trial without steady state only drifted further to its side of the limit: no repeat changes that."""
    return doubt.trial == "unsettled" and grows_worse(step) is (not met)


def grows_worse(step: StepFigures) -> bool | None:
    """Whether the host became slower while measuring; None if response and throughput disagree, or neither shifted."""
    response, throughput = step.settled.response, step.settled.throughput
    worse = {response.after > response.before} if response else set()
    worse |= {throughput.after < throughput.before} if throughput else set()
    return worse.pop() if len(worse) == 1 else None


def list_rare_figures(step: StepFigures, figures: Iterable[Reference]) -> Iterator[str]:
    """Name each limited figure that has too few values to show that its limit is kept."""
    for figure in figures:
        number = number_of_values(figure, step)
        if number is not None and number < ENOUGH:
            yield f"{figure} rests on {many(number, 'value')}, and needs {ENOUGH}: measure for longer"


def list_undecided_limits(step: StepFigures) -> Iterator[str]:
    """Name each limited figure of which nothing, or too little, was measured."""
    for result in step.limits:
        if result.value is None:
            yield f"nothing was measured of {Limit.read(result.limit).figure}"
        elif result.undecided:
            yield f"{result.limit} is {NOT_DECIDED}: {result.undecided}: measure for longer"


def worst_excess(step: StepFigures) -> float | None:
    """The largest excess; None if a figure was not measured and the other limits are met."""
    values = [excess(result) for result in step.limits]
    known = [value for value in values if value is not None]
    is_known = len(known) == len(values) or any(value > 0 for value in known)
    return max(known, default=None) if is_known else None


def worst_limit(step: StepFigures) -> LimitResult | None:
    """The limit that a step exceeds most, or is nearest to; None if none could be measured."""
    known = [(value, result) for result in step.limits if (value := excess(result)) is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def excess(result: LimitResult) -> float | None:
    """The natural logarithm of a figure's ratio to its limit, above 0 if that is exceeded; None if it is undecided.

    With `==` and `!=` it is 1 or −1, as there is no ratio.
    """
    limit = Limit.read(result.limit)
    if result.value is None or result.undecided or limit.holds(result.value) is not result.ok:
        return None
    if limit.comparison in {"==", "!="}:
        return -1.0 if result.ok else 1.0
    ratio = log_ratio(result.value, limit.value)
    ratio = ratio if limit.comparison in {"<", "<="} else -ratio
    # `<` is exceeded by the bound itself, and a sum of floats may be off by the last bit.
    return min(ratio, 0.0) if result.ok else max(ratio, 1e-9)


def log_ratio(value: float, bound: float) -> float:
    """log(value / bound), clamped to MOST_EXCESS, which also stands for the ratio of numbers that are not positive."""
    if value <= 0 or bound <= 0:
        return math.copysign(MOST_EXCESS, value - bound) if value != bound else 0.0
    return max(-MOST_EXCESS, min(MOST_EXCESS, math.log(value / bound)))


def read_load(step: StepFigures, method: Method) -> float:
    """The users of a step, or the rate of its open load, if the step has one that all groups share."""
    return float(step.users) if method.whole else Load.read(step.swept.get("load", step.load)).per_s
