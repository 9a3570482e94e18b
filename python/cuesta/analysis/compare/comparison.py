"""Compares two sides of runs: checks that they are comparable, then gives a verdict on each figure.

Unlike sides are refused, unless a reason is given; the result then contains the reason.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from cuesta.analysis.compare.comparability import HOST, KINDS, Difference, RunFacts, list_differences
from cuesta.analysis.compare.failures import Failing, FailureComparison, judge_failures, withhold_verdict
from cuesta.analysis.compare.metrics import (
    CREATION_CPU,
    ECHO,
    EXPLORATORY,
    FAILED,
    HEADLINE,
    HEADLINES,
    WITHOUT_WORK,
    Metric,
)
from cuesta.analysis.compare.sides import ENOUGH_FOR_P99, METERED, ComparedRun, Side, why_copy
from cuesta.analysis.compare.verdict import ALPHA, MetricComparison, Verdict, estimate_ratio, judge_figures
from cuesta.analysis.hodges_lehmann import CONFIDENCE, least_runs
from cuesta.analysis.limits import NOT_DECIDED, least_values
from cuesta.analysis.path.growth import Growth, average_means, find_growth
from cuesta.units import many


class Overall(StrEnum):
    """The result over all headline figures."""

    UNCHANGED = "no change beyond the margin"
    CHANGED = "changed"
    INCONCLUSIVE = "inconclusive"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Terms:
    """The user's terms for a comparison."""

    margin: float = 0.05
    """The least change that matters."""
    despite: str | None = None
    """Why unlike runs are compared nevertheless."""
    compensation: Mapping[str, float] = field(default_factory=dict)
    """By metric: the factor that converts the new side's figure to the base's method."""
    figures: Sequence[Metric] = ()
    """The figures that are judged; empty: the headline figures of what the tapes time."""
    kinds: Sequence[str] = KINDS
    """Kinds of facts that must be alike."""


@dataclass(frozen=True, slots=True)
class Comparison:
    base: Side
    new: Side
    in_pairs: bool
    terms: Terms
    refused: Sequence[str] = ()
    """Why nothing is compared, a sentence each."""
    remedy: str | None = None
    """What to do about the first reason."""
    unlike: Sequence[Difference] = ()
    """Differences that `terms.despite` overrules."""
    host: Sequence[Difference] = ()
    """Differences of the host, which is what is compared."""
    failures: Sequence[FailureComparison] = ()
    """Judged before the headline figures."""
    headline: Sequence[MetricComparison] = ()
    exploratory: Sequence[MetricComparison] = ()
    slower: Growth | None = None
    """The hop of followed keys that takes longer by most on the new side; None if none does, or none was followed."""
    quicker: Growth | None = None
    """The hop that takes less by most."""

    @property
    def overall(self) -> Overall:
        """Combine the verdicts; a headline figure that is missing is inconclusive."""
        words = {each.test.verdict if each.test else Verdict.INCONCLUSIVE for each in self.headline}
        if self.refused:
            return Overall.REFUSED
        failing = {each.verdict for each in self.failures}
        if words & {Verdict.FASTER, Verdict.SLOWER} or failing & {Failing.MORE, Failing.FEWER}:
            return Overall.CHANGED
        is_decided = words and not words & {Verdict.INCONCLUSIVE, Verdict.NOT_JUDGED} and Failing.UNKNOWN not in failing
        return Overall.UNCHANGED if is_decided else Overall.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing is compared, and what to do about it."""

    why: str
    remedy: str


def compare(base: Side, new: Side, terms: Terms, in_pairs: bool = False) -> Comparison:
    if refused := list(list_refusals(base, new, terms)):
        return Comparison(base, new, in_pairs, terms, [each.why for each in refused], refused[0].remedy)
    tested = list(terms.figures) or choose_headlines([*base.runs, *new.runs])
    shown = [metric for metric in EXPLORATORY if metric not in tested]
    one, other = base.runs[0].facts, new.runs[0].facts
    failures = judge_failures((FAILED, WITHOUT_WORK), base, new, in_pairs)
    hops = [average_means([run.hops for run in side.runs]) for side in (base, new)]
    judged = judge_figures([collect_figure(metric, base, new, terms, in_pairs) for metric in tested], terms.margin)
    return Comparison(
        base,
        new,
        in_pairs,
        terms,
        unlike=list_differences(one, other, terms.kinds),
        host=list_differences(one, other, [HOST]),
        failures=failures,
        headline=[withhold_verdict(figure, failures) for figure in judged],
        exploratory=[estimate_ratio(collect_figure(metric, base, new, terms, in_pairs)) for metric in shown],
        slower=find_growth(*hops),
        quicker=find_growth(*hops[::-1]),
    )


def choose_headlines(runs: Sequence[ComparedRun]) -> list[Metric]:
    """Choose the figures to test: those that apply to the runs, except those that no run is expected to have.

    Each class of transactions, and the keys of each group, are tested separately: pooled, the largest hides the others.
    """
    metrics = next((own for own in HEADLINES if any(run.figures[own[-1].name] for run in runs)), HEADLINE)
    if any(run.figures[ECHO.name] for run in runs):
        metrics = tuple(dict.fromkeys((*metrics, ECHO)))
    tested: list[Metric] = []
    for metric in metrics:
        if any(is_expected(metric, run.facts) for run in runs):
            parts = list(dict.fromkeys(part for run in runs for part in run.parts.get(metric.name, ())))
            tested += parts if len(parts) > 1 else [metric]
    return tested


def is_expected(metric: Metric, facts: RunFacts) -> bool:
    """Whether a run should have a figure: a plan may have no meters, and a benchmark has no process creation."""
    method = facts["method"]
    if metric.name == CREATION_CPU and method.get("certifier") == "benchmark":
        return False
    return not (metric.needs_meters and method.get("meters") == "none")


def list_refusals(base: Side, new: Side, terms: Terms) -> Iterator[Refusal]:
    """Why two sides may not be compared; reasons that --despite cannot overrule come first."""
    yield from refuse_empty_sides(base, new)
    for name, side in (("BASE", base), ("NEW", new)):
        for run in side.runs[1:]:
            for difference in list_differences(side.runs[0].facts, run.facts, [*KINDS, HOST]):
                why = f"{name}: {run.folder.name} differs from {side.runs[0].folder.name}: {difference}"
                yield Refusal(why, "put runs that differ into separate folders")
    for run in new.runs:
        if copied := why_copy(run, base.runs, base.folder):
            yield Refusal(f"NEW: {run.folder.name} is on both sides: {copied}", "give each side runs of its own")
    unlike = list_differences(base.runs[0].facts, new.runs[0].facts, terms.kinds) if base.runs and new.runs else []
    if not terms.despite:
        yield from (
            Refusal(str(each), "make both sides alike, or give a reason to compare them anyway: --despite REASON")
            for each in unlike
        )
    elif terms.compensation and not any(each.kind == "method" for each in unlike):
        why = "a compensation is for a change of method, and the methods are alike"
        yield Refusal(why, "leave --compensation out")
    else:
        yield from refuse_unknown_figures(terms.compensation, [*base.runs, *new.runs])


def refuse_unknown_figures(names: Iterable[str], runs: Sequence[ComparedRun]) -> Iterator[Refusal]:
    """Refuse compensations of figures that are not tested."""
    judged = [metric.name for metric in choose_headlines(runs)]
    for name in names:
        if name not in judged:
            yield Refusal(f"no figure {name} is judged in these runs", f"compensate one of {', '.join(judged)}")


def refuse_empty_sides(base: Side, new: Side) -> Iterator[Refusal]:
    remedy = "give runs that can be used: `cuesta report RUN` says what is wrong with one, and what to do"
    for name, side in (("BASE", base), ("NEW", new)):
        if not side.runs:
            for run in side.excluded:
                yield Refusal(f"{name}: {run.folder.name} cannot be used: {run.why}", remedy)
            yield Refusal(f"{name}: {side.folder} has no run that can be used", remedy)


def collect_figure(metric: Metric, base: Side, new: Side, terms: Terms, in_pairs: bool) -> MetricComparison:
    """A figure of both sides, run by run, of runs that have it."""
    before, after = (
        [value for run in side.runs if (value := run.figures.get(metric.name)) is not None] for side in (base, new)
    )
    factor, missing = terms.compensation.get(metric.name), why_missing(metric, [*base.runs, *new.runs])
    base_bounded, new_bounded = (any(metric.name in run.bounds for run in side.runs) for side in (base, new))
    return MetricComparison(metric, before, after, in_pairs, factor, missing, (base_bounded, new_bounded))


def why_missing(metric: Metric, runs: Sequence[ComparedRun]) -> str | None:
    """Why a figure has no ratio."""
    known = [run.figures.get(metric.name) for run in runs]
    absent = known.count(None)
    if absent:
        return "not measured" if absent == len(known) else f"not measured in {absent} of {len(known)} runs"
    if min(value for value in known if value is not None) <= 0:
        return "zero in some runs"
    if metric.statistic.startswith("p"):
        needed = least_values(float(metric.statistic[1:]) / 100)
        fewest = min((run.totals[metric.name] for run in runs if metric.name in run.totals), default=needed)
        if fewest < needed:
            return f"{NOT_DECIDED}: a run has {many(fewest, 'value')}, and {needed:,} are needed"
    least = min(run.effective_sizes.get(metric.series, 0.0) for run in runs)
    if metric.statistic == "p99" and least < ENOUGH_FOR_P99:
        return f"worth {least:,.0f} of {ENOUGH_FOR_P99:,.0f} needed"
    return None


def list_notes(comparison: Comparison) -> Iterator[str]:
    """Limitations of the conclusions."""
    if comparison.refused:
        return
    base, new = comparison.base.runs, comparison.new.runs
    yield from note_few_runs(comparison)
    starts = [sorted(run.started for run in runs) for runs in (base, new)]
    if not comparison.in_pairs and (starts[0][-1] <= starts[1][0] or starts[1][-1] <= starts[0][0]):
        yield "all runs of one side came before the other's: drift between them looks like a change of the host"
    undecided = [f"{each.metric.label} ({each.missing})" for each in comparison.headline if not each.test]
    if undecided:
        yield f"not decided, because there is no ratio: {', '.join(undecided)}"
    if any(each.metric.needs_meters and not each.test for each in comparison.headline):
        yield 'if CPU time cannot be metered, leave it out: both plans say `meters = "none"`'
    if bounded := [each.metric.label for each in comparison.headline if any(each.bounded)]:
        yield f"at least as large as shown, for too little was answered: {', '.join(bounded)}"
    methods = [each for each in comparison.unlike if each.kind == "method"]
    uncompensated = [each.metric.label for each in comparison.headline if each.compensation is None and each.test]
    if methods and uncompensated:
        yield f"the change of method is not compensated in: {', '.join(uncompensated)}"
    if partly_metered := sum(0 < run.metered < METERED for run in (*base, *new)):
        runs = f"the host's meters saw less than {METERED * 100:g} % of the interval in {many(partly_metered, 'run')}"
        yield f"{runs}: measure or settle longer, or use --meters plain, which starts sooner"
    # Runs of one side that differ in host or meters are refused, so the first run's sentence stands for all of them.
    if any(each.metric.needs_meters and each.test for each in comparison.headline) and (honesty := new[0].honesty):
        yield f"CPU: {honesty}"


def note_few_runs(comparison: Comparison) -> Iterator[str]:
    """Whether there are too few runs for a verdict."""
    base, new = len(comparison.base.runs), len(comparison.new.runs)
    figures = sum(each.test is not None for each in comparison.headline)
    for_any, for_change = (
        least_runs(confidence, comparison.in_pairs) for confidence in (CONFIDENCE, 1 - ALPHA / max(figures, 1))
    )

    def write_runs(of_base: int, of_new: int) -> str:
        return many(min(of_base, of_new), "pair") if comparison.in_pairs else f"{of_base} + {of_new} runs"

    if min(base, new) < for_any:
        need, have = write_runs(for_any, for_any), write_runs(base, new)
        yield f"too few for any verdict: an exact 95 % interval needs {need}, and there are {have}"
    elif min(base, new) < for_change:
        need = write_runs(for_change, for_change)
        yield f"too few for a change: of {figures} figures judged together none is claimed from fewer than {need}"
