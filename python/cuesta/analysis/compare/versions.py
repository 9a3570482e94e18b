"""Tells whether a new version of a program is worse to type at than the base version, by pairs of short runs.

The figures that are judged decide: the typical echo of a key, unless others are named. Guards can only make the verdict
worse: the slow echoes, and failures. The chance that any figure is falsely claimed to be worse is at most 5 %: half for
the figures that are judged, half for the guards. That of a false `no worse` is at most 2.5 %.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from cuesta.analysis.compare.comparability import HOST, Difference, kinds_but, list_differences
from cuesta.analysis.compare.comparison import Terms, list_refusals
from cuesta.analysis.compare.failures import MATTERS
from cuesta.analysis.compare.looks import Look, plan_looks
from cuesta.analysis.compare.metrics import FAILED, Metric, metric
from cuesta.analysis.compare.paired_figure import Claim, Margin, PairedFigure
from cuesta.analysis.compare.sides import ComparedRun, ExcludedRun, Side, extract_figures
from cuesta.analysis.summary import LAST, LocatedDoubt, summarise
from cuesta.analysis.waits import Waits, select_waits, values_needed
from cuesta.figures import BY_NAME
from cuesta.ledger.experiment import read_pairs
from cuesta.ledger.versions import VersionsRecord
from cuesta.units import many

LEVEL = 0.025
"""The chance of a false claim, over all looks: of what is judged, and once more of the guards."""

NO_PAIR = "no pair counts"
"""Why nothing is compared if each pair has a run that is INVALID."""


class Verdict(StrEnum):
    """The result of a comparison of versions."""

    NO_WORSE = "no worse"
    WORSE = "worse"
    CANNOT_TELL = "cannot tell"
    NOT_VALID = "not valid"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class VersionRun:
    """A run of one version."""

    compared: ComparedRun
    figures: Mapping[str, float | None]
    """All figures that are judged or guarded."""
    waits: Waits
    """All values of which the first figure is one: echoes of keys, or responses."""
    obstacle: str | None
    """Why nothing can be measured at this version; None if something was."""
    failures: Sequence[str] = ()
    """The first failure of each kind, a sentence each."""


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """Two versions, compared."""

    record: VersionsRecord
    folder: Path
    base: Sequence[VersionRun]
    """The runs that count; the n-th of each side belong together."""
    new: Sequence[VersionRun]
    left_out: Sequence[ExcludedRun]
    verdict: Verdict
    why: Sequence[str] = ()
    """Why nothing is compared, a sentence each."""
    figures: Sequence[PairedFigure] = ()
    """Those that are judged, then the guards."""
    unlike: Sequence[Difference] = ()
    """Differences that `record.despite` overrules."""
    host: Sequence[Difference] = ()
    """How the hosts differ: they are what is compared."""

    @property
    def pairs(self) -> int:
        return len(self.base)

    @property
    def margin(self) -> Margin:
        return Margin(self.record.margin_share, self.record.margin_difference)

    @property
    def judged(self) -> Sequence[PairedFigure]:
        return [figure for figure in self.figures if not figure.guards]

    @property
    def guards(self) -> Sequence[PairedFigure]:
        return [figure for figure in self.figures if figure.guards]

    @property
    def worse(self) -> Sequence[PairedFigure]:
        return [figure for figure in self.figures if figure.claim == Claim.WORSE]


def read_versions(folder: Path, record: VersionsRecord) -> VersionComparison:
    """Compare the pairs of runs in a folder. Raises InputError if there are none."""
    pairs = [(read_version_run(pair.base, record), read_version_run(pair.new, record)) for pair in read_pairs(folder)]
    return compare_versions(folder, pairs, record)


def read_version_run(folder: Path, record: VersionsRecord) -> VersionRun:
    summary = summarise(folder, LAST)
    step, compared = summary.last, extract_figures(folder, summary)
    values = {name: BY_NAME[name].take_from(step) for name in (*record.figures, *record.guards)}
    waits = select_waits(summary.recorded.measured_in(step.step), metric(record.figures[0]).series or "echo")
    is_measured = any(values[name] is not None for name in record.figures)
    unaccompanied = say_first(each for each in summary.doubts if each.doubt.name == "unaccompanied")
    doubt = say_first(each for each in summary.doubts if each.doubt.blames == "host")
    nothing = None if compared.why_excluded else f"{metric(record.figures[0]).label}: nothing was measured"
    obstacle = unaccompanied or (None if is_measured else doubt or nothing)
    return VersionRun(compared, values, waits, obstacle, [*step.errors.said.values()])


def say_first(doubts: Iterable[LocatedDoubt]) -> str | None:
    """The first of some doubts, and what to do; None if there is none."""
    return next((f"{each}; {each.doubt.advice}" for each in doubts), None)


def compare_versions(
    folder: Path, pairs: Sequence[tuple[VersionRun, VersionRun]], record: VersionsRecord
) -> VersionComparison:
    """Judge pairs, look by look: the result is what the first look that decides has seen."""
    counting = [pair for pair in pairs if does_count(pair)]
    left_out = [
        ExcludedRun(run.compared.folder, run.compared.why_excluded or "the other run of its pair is left out")
        for pair in pairs
        if not does_count(pair)
        for run in pair
    ]
    base, new = [one for one, _ in counting], [other for _, other in counting]
    comparison = VersionComparison(record, folder, base, new, left_out, Verdict.CANNOT_TELL)
    if obstacles := list(list_obstacles(pairs, record.names)):
        return replace(comparison, verdict=Verdict.NOT_VALID, why=obstacles)
    if not counting:
        return replace(comparison, verdict=Verdict.NOT_VALID, why=[NO_PAIR])
    one_side, other_side = (Side(folder, [run.compared for run in side], []) for side in (base, new))
    kinds = kinds_but(record.compared)
    likeness = Terms(despite=record.despite, kinds=kinds)
    if refused := [each.why for each in list_refusals(one_side, other_side, likeness)]:
        return replace(comparison, verdict=Verdict.REFUSED, why=refused)
    one, other = base[0].compared.facts, new[0].compared.facts
    unlike, host = list_differences(one, other, kinds), list_differences(one, other, [HOST])
    return replace(decide(comparison), unlike=unlike, host=host)


def does_count(pair: tuple[VersionRun, VersionRun]) -> bool:
    return not any(run.compared.why_excluded for run in pair)


def list_obstacles(pairs: Iterable[tuple[VersionRun, VersionRun]], names: tuple[str, str]) -> Iterator[str]:
    """Why nothing can be measured at a version, a sentence for each version that has such a run."""
    for side, name in enumerate(names):
        yield from [f"{name}: {why}" for pair in pairs if (why := pair[side].obstacle)][:1]


def decide(comparison: VersionComparison) -> VersionComparison:
    """Take the looks one after another, and stop at the first that tells."""
    record, pairs = comparison.record, comparison.pairs
    ended_at = pairs if record.is_cut_short and pairs < record.planned[-1] else None
    last = ended_at or record.planned[-1]
    for looked in [*(number for number in record.planned if number < pairs), pairs]:
        seen = replace(comparison, base=comparison.base[:looked], new=comparison.new[:looked])
        judged = replace(seen, figures=judge_figures(seen, ended_at))
        if (verdict := conclude(judged, is_last=looked >= last)) != Verdict.CANNOT_TELL:
            return replace(judged, verdict=verdict)
    return judged


def conclude(comparison: VersionComparison, is_last: bool) -> Verdict:
    """The verdict of a look."""
    if comparison.worse:
        return Verdict.WORSE
    is_awaited = not is_last and any(figure.is_suspicious for figure in comparison.guards)
    is_clear = all(figure.claim == Claim.NO_WORSE for figure in comparison.judged) and not is_awaited
    return Verdict.NO_WORSE if is_clear else Verdict.CANNOT_TELL


def judge_figures(comparison: VersionComparison, ended_at: int | None) -> list[PairedFigure]:
    """The figures that are judged, then the guards. No more than `ended_at` pairs are made; None: that is not known."""
    record, pairs = comparison.record, comparison.pairs

    def collect(name: str, level: float, guards: bool) -> PairedFigure:
        looks = [look for look in plan_looks(record.planned, level, ended_at) if look.pairs <= pairs]
        return collect_figure(comparison, name, looks, level, guards)

    judged = [collect(name, LEVEL / len(record.figures), guards=False) for name in record.figures]
    watched = (*record.guards, FAILED.name)
    return [*judged, *(collect(name, LEVEL / len(watched), guards=True) for name in watched)]


def collect_figure(
    comparison: VersionComparison, name: str, looks: Sequence[Look], level: float, guards: bool
) -> PairedFigure:
    """A figure of both versions, pair by pair."""
    sides = (comparison.base, comparison.new)
    if name == FAILED.name:
        base, new = ([run.compared.failures[name] for run in side] for side in sides)
        return PairedFigure(FAILED, base, new, Margin(difference=MATTERS), looks, level, guards)
    known = [[value for run in side if (value := run.figures[name]) is not None] for side in sides]
    absent = 2 * comparison.pairs - sum(map(len, known))
    missing = explain_missing(absent, [*known[0], *known[1]]) or explain_few(comparison, metric(name))
    base, new = known
    of_base, of_new = (any(name in run.compared.bounds for run in side) for side in sides)
    return PairedFigure(metric(name), base, new, comparison.margin, looks, level, guards, (of_base, of_new), missing)


def explain_missing(absent: int, known: Sequence[float]) -> str:
    """Why a figure cannot be judged; empty if it can."""
    if absent or not known:
        return f"not measured in {absent} of {absent + len(known)} runs" if known else "not measured"
    return "zero in some runs" if min(known) <= 0 else ""


def explain_few(comparison: VersionComparison, each: Metric) -> str:
    """Why a percentile is not judged: fewer values than one beyond it in every run. Empty if it can be."""
    if not each.statistic.startswith("p"):
        return ""
    needed = values_needed(each.statistic)
    fewest = min(run.compared.totals.get(each.name, needed) for run in (*comparison.base, *comparison.new))
    return f"{many(fewest, 'value')} a run, {needed} needed" if fewest < needed else ""
