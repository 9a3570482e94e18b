"""Whether a measurement passes, fails, or cannot tell."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.compare.comparison import Comparison, Terms, compare
from cuesta.analysis.compare.failures import Failing
from cuesta.analysis.compare.metrics import Metric, metric
from cuesta.analysis.compare.paired_figure import Margin
from cuesta.analysis.compare.sides import Side
from cuesta.analysis.compare.verdict import MetricComparison, Verdict
from cuesta.analysis.hodges_lehmann import unpaired
from cuesta.analysis.limits import NOT_DECIDED
from cuesta.pytest_plugin.measurement import Outcome
from cuesta.pytest_plugin.terms import BaselineTerms
from cuesta.report.comparison import describe_failures
from cuesta.report.headline import headline
from cuesta.report.limits import describe_limit_result, limit_status
from cuesta.report.validity import join_advice, list_doubts
from cuesta.units import many, seconds
from cuesta.workflow.run_result import Run

MOST_RUNS = 25
"""The largest number of runs that a test is advised to make."""


@dataclass(frozen=True, slots=True)
class Judgement:
    outcome: Outcome
    sentence: str
    """The answer in one sentence."""
    details: Sequence[str] = ()
    """What it rests on, and what to do, a row each."""


def judge_run(run: Run) -> Judgement:
    """A run is judged by its limits, if it is valid. It fails if it is not because of what the program did."""
    sentence, doubts = headline(run.summary), [join_advice(doubt) for doubt in list_doubts(run.summary)]
    if any(each.doubt.blames == "host" for each in run.summary.invalidating):
        return Judgement("failed", sentence, doubts)
    if doubts or run.interrupted:
        return Judgement("cannot tell", sentence, doubts)
    by_status: dict[str, list[str]] = {}
    for limit in run.limits:
        status = limit_status(limit)
        text = f"limit {status}: {limit.limit}: {describe_limit_result(limit, run.summary)}"
        by_status.setdefault(status, []).append(text)
    if crossed := [*by_status.get("crossed", []), *by_status.get("not measured", [])]:
        return Judgement("failed", sentence, crossed)
    if undecided := by_status.get(NOT_DECIDED):
        return Judgement("cannot tell", sentence, [*undecided, "measure for longer: measure=…"])
    return Judgement("passed" if run.limits else "measured", sentence)


def judge_against(base: Side, new: Side, terms: BaselineTerms) -> Judgement:
    """Runs pass if it is certain that what is judged is not worse than the baseline's.

    A figure is worse if it is so beyond all that the margin has. What guards can only make the outcome worse.
    """
    judged, guards = choose_figures(new, terms)
    how = Terms(terms.margin.share or 0.0, figures=[*judged, *guards])
    return judge_comparison(compare(base, new, how), terms.margin, judged)


def choose_figures(side: Side, terms: BaselineTerms) -> tuple[Sequence[Metric], Sequence[Metric]]:
    """The figures, all of which are durations, that are judged, and those that guard."""
    if terms.figures:
        return terms.figures, []
    series = "echo" if any(run.figures.get("echo.p50") for run in side.runs) else "response"
    return [metric(f"{series}.p50")], [metric(f"{series}.p95")]


def judge_comparison(comparison: Comparison, margin: Margin, judged: Sequence[Metric]) -> Judgement:
    if comparison.refused:
        remedy = "compare where the baseline was measured, or add this machine to it: --cuesta-update"
        return Judgement("cannot tell", f"not compared with the baseline: {comparison.refused[0]}", [remedy])
    failing = [describe_failures(each) for each in comparison.failures if each.verdict == Failing.MORE]
    worse = [each for each in comparison.headline if is_worse(each, margin)]
    if failing or worse:
        found = [*failing, *map(describe_figure, worse)]
        return Judgement("failed", f"worse than the baseline: {found[0]}", found[1:])
    unsure = [each for each in comparison.headline if each.metric in judged and not is_no_worse(each, margin)]
    perhaps = [describe_failures(each) for each in comparison.failures if each.verdict == Failing.UNKNOWN]
    if unsure or perhaps:
        found = [*map(describe_figure, unsure), *perhaps]
        more = [f"it may be worse by more than {margin}", *advise(unsure)]
        return Judgement("cannot tell", f"perhaps worse than the baseline: {found[0]}", [*found[1:], *more])
    return Judgement("passed", "no worse than the baseline")


def is_worse(figure: MetricComparison, margin: Margin) -> bool:
    """Whether the test of the ratio says so, and the interval of the difference lies beyond the margin's."""
    slower = figure.test is not None and figure.test.verdict == Verdict.SLOWER
    interval = unpaired(figure.base, figure.new).interval()
    return slower and interval is not None and (margin.difference is None or interval.low > margin.difference)


def is_no_worse(figure: MetricComparison, margin: Margin) -> bool:
    """Whether the interval of the ratio or of the difference lies below that of the margin."""
    interval = unpaired(figure.base, figure.new).interval()
    if figure.missing is not None or figure.interval is None or interval is None or figure.bounded[1]:
        return False
    within_share = margin.share is not None and figure.interval.high <= 1 + margin.share
    return within_share or (margin.difference is not None and interval.high <= margin.difference)


def describe_figure(figure: MetricComparison) -> str:
    """Both sides by their medians, and the interval of the difference: `echo p50: 1 ms → 9 ms, +7.8 ms to +8.4 ms`."""
    if figure.missing is not None:
        return f"{figure.metric.label}: {figure.missing}"
    base, new = (seconds(statistics.median(values)) for values in (figure.base, figure.new))
    interval = unpaired(figure.base, figure.new).interval()
    if interval is None:
        return f"{figure.metric.label}: {base} → {new}, of {len(figure.base)} and {many(len(figure.new), 'run')}"
    return f"{figure.metric.label}: {base} → {new}, {write_change(interval.low)} to {write_change(interval.high)}"


def write_change(change: float) -> str:
    return f"{'+' * (change > 0)}{seconds(change)}"


def advise(unsure: Sequence[MetricComparison]) -> list[str]:
    """How many runs would tell, if that is known and can be made."""
    more = [each.test.more_runs for each in unsure if each.test and each.test.more_runs]
    needed = max((each.runs for each in unsure), default=0) + max(more, default=0)
    if not more or needed > MOST_RUNS:
        return ["runs differ too much for so small a change: use a quieter machine, or a larger margin"]
    return [f"{needed} runs of each side would likely tell: runs={needed}, and --cuesta-update"]
