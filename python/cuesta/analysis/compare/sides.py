"""Reads the sides of a comparison: their runs, each as one number per figure, and why some runs are excluded.

A run gives one number per figure, however many transactions it had. A figure that was not measured is None.
"""

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cuesta._native import Histogram
from cuesta.analysis.certify.certification_run import CertificationRun
from cuesta.analysis.certify.read_run import read_run
from cuesta.analysis.compare.comparability import RunFacts, add_setup, collect_facts
from cuesta.analysis.compare.metrics import (
    COMMAND_CPU,
    COMPLETION,
    CREATION_CPU,
    ECHO_HEADLINES,
    EXPLORATORY,
    FAILED,
    HEADLINE,
    OF_CERTIFICATIONS,
    WITHOUT_WORK,
    Metric,
    metric,
)
from cuesta.analysis.path.growth import Hops, list_means
from cuesta.analysis.planned import list_requests
from cuesta.analysis.stationarity import variance_of_mean
from cuesta.analysis.step import StepRecords
from cuesta.analysis.summary import LAST, LocatedDoubt, Summary, summarise
from cuesta.figures import BY_NAME
from cuesta.figures.durations import Distribution
from cuesta.figures.step import StepFigures
from cuesta.ledger.certification import is_certification, open_certification
from cuesta.ledger.experiment import read_pairs, run_folders
from cuesta.ledger.record import CertificationSetup
from cuesta.units import join_words

ENOUGH_FOR_P99 = 1000.0
"""Independent transactions that a 99th percentile needs."""
LEAST_SECONDS = 20
"""Fewest seconds from which autocorrelation is estimated."""
TYPICAL = 12.0
"""Values per effective one, where autocorrelation is not known: measured for transactions of a closed load with a
server 70 % busy. Used for runs that are too short to show it, and for echoes."""
WHOLE = 0.99
"""Share of the planned interval that a run must have measured."""
RATES = ("throughput", "keystrokes")
"""Rates that are None if nothing was counted."""
METERED = 0.75
"""Share of the interval that the host's meters must have covered."""
OF_TRANSACTIONS = ("response", "first_response")


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One run of a side, as one number for each figure."""

    folder: Path
    started: str
    """The start in UTC, as in `run.json`."""
    facts: RunFacts
    figures: Mapping[str, float | None]
    """Values by the names of the metrics."""
    parts: Mapping[str, Sequence[Metric]]
    """By metric: the metrics of each class of transactions, or of each group whose keys are timed."""
    effective_sizes: Mapping[str, float]
    """By series: the effective sample size, the number of independent values whose mean has the same variance."""
    totals: Mapping[str, int]
    """By metric of a distribution: the number of values that it rests on, censored ones included."""
    bounds: Collection[str]
    """Metrics whose values are lower bounds: too little was answered to know them."""
    failures: Mapping[str, float]
    """Shares of failures, by metric."""
    errors: int
    metered: float
    """Share of the interval that the host's meters covered."""
    honesty: str
    """How far its CPU figures can be trusted; empty if there are none."""
    why_excluded: str | None
    """Why it cannot be used; None if it can."""
    hops: Hops = field(default_factory=dict)
    """Where the time of followed keys goes, on average; empty if none was followed."""
    host_doubt: str | None = None
    """What the host did that makes the run INVALID. It counts nevertheless: without such runs the sample is biased."""


@dataclass(frozen=True, slots=True)
class ExcludedRun:
    folder: Path
    why: str


@dataclass(frozen=True, slots=True)
class Side:
    folder: Path
    runs: list[ComparedRun]
    excluded: list[ExcludedRun]


def read_side(folder: Path, step: int | None = None) -> Side:
    """Read a side whose runs are not in pairs; of sweeps, step `step` or by default the last."""
    if is_certification(folder):
        setup = open_certification(folder).given
        return separate_usable(
            folder, [compare_certification_run(read_run(run, setup.pause), setup) for run in run_folders(folder)]
        )
    return separate_usable(folder, [read_compared_run(run, step) for run in run_folders(folder)])


def read_paired_sides(folder: Path, step: int | None = None) -> tuple[Side, Side]:
    """Both sides of runs in pairs: a pair counts if both of its runs are usable."""
    base, new = Side(folder, [], []), Side(folder, [], [])
    for pair in read_pairs(folder):
        earlier, runs = [*base.runs, *new.runs], [read_compared_run(run, step) for run in (pair.base, pair.new)]
        why = [run.why_excluded or why_copy(run, [*earlier, *runs[:at]], folder) for at, run in enumerate(runs)]
        for side, run, own in zip((base, new), runs, why, strict=True):
            if any(why):
                side.excluded.append(ExcludedRun(run.folder, own or "the other run of its pair is left out"))
            else:
                side.runs.append(run)
    return base, new


def separate_usable(folder: Path, runs: Sequence[ComparedRun]) -> Side:
    result = Side(folder, [], [])
    for run in runs:
        if why := run.why_excluded or why_copy(run, result.runs, folder):
            result.excluded.append(ExcludedRun(run.folder, why))
        else:
            result.runs.append(run)
    return result


def why_copy(run: ComparedRun, others: Sequence[ComparedRun], folder: Path) -> str | None:
    """A sentence if the run is a copy of one of the others."""
    for other in others:
        if (run.started, run.figures) == (other.started, other.figures):
            return f"it is a copy of {relative_name(other.folder, folder)}"
    return None


def relative_name(run: Path, folder: Path) -> str:
    return str(run.relative_to(folder)) if run != folder and run.is_relative_to(folder) else run.name


def read_compared_run(folder: Path, step: int | None = None) -> ComparedRun:
    """A run; of a sweep the given step, or else its last."""
    return extract_figures(folder, summarise(folder, LAST if step is None else step), step)


def compare_certification_run(run: CertificationRun, setup: CertificationSetup) -> ComparedRun:
    compared = extract_figures(run.folder, run.summary)
    measured = {
        CREATION_CPU: run.cpu("creation").value,
        COMMAND_CPU: run.cpu("command").value,
        COMPLETION: statistics.fmean(run.times.completion) if run.times.completion else None,
    }
    return replace(
        compared,
        facts=add_setup(compared.facts, setup),
        figures={**compared.figures, **measured},
        why_excluded=next(iter(run.doubts), None),
    )


def extract_figures(folder: Path, summary: Summary, step: int | None = None) -> ComparedRun:
    """The figures of a step, by default the plan's last."""
    number = summary.planned_steps - 1 if step is None else step
    measured_step = next((figures for figures in summary.steps if figures.step == number), None)
    figures = measured_step or summary.last
    meters = figures.host.meters
    run = summary.recorded.run
    metered = meters.seconds / figures.seconds if meters and figures.seconds else 0.0
    parts = list_part_distributions(figures)
    by_part = {part.name: timed for of_metric in parts.values() for part, timed in of_metric.items()}
    distributions = list_distributions(figures) | by_part
    return ComparedRun(
        folder=folder,
        started=str(run.get("started", "")),
        facts=collect_facts(run),
        figures=select_figures(figures, metered) | {name: timed.p95 for name, timed in by_part.items()},
        parts={name: list(of_metric) for name, of_metric in parts.items()},
        effective_sizes=dict.fromkeys(
            OF_TRANSACTIONS, estimate_effective_size(StepRecords(summary.recorded, figures.step))
        )
        | {"echo": figures.echo.count / TYPICAL},  # rows have no sums of echo times, so autocorrelation is not known
        totals={name: timed.total for name, timed in distributions.items()},
        bounds={name for name, timed in distributions.items() if name.rpartition(".")[2] in timed.at_least},
        failures=compute_failure_shares(figures),
        errors=figures.errors.count,
        metered=metered,
        honesty=meters.honesty if meters else "",
        hops=list_means(figures.echo.path),
        why_excluded=why_excluded(summary, measured_step, number),
        host_doubt=next((str(each) for each in doubts_of(summary, number) if each.doubt.blames == "host"), None),
    )


def compute_failure_shares(step: StepFigures) -> dict[str, float]:
    """The shares of failures of a step: of transactions, or of keys if there are none; and of users."""
    asked = step.all_transactions or step.all_keys
    failed, without_work = step.errors.count, max(step.lost_users, step.never_at_work)
    return {
        FAILED.name: failed / (failed + asked) if failed else 0.0,
        WITHOUT_WORK.name: without_work / step.users if step.users else 0.0,
    }


def list_distributions(step: StepFigures) -> dict[str, Distribution]:
    """By metric."""
    metrics = (*HEADLINE, *ECHO_HEADLINES, *EXPLORATORY)
    return {each.name: getattr(step, each.series) for each in metrics if each.series}


def select_figures(step: StepFigures, metered: float) -> dict[str, float | None]:
    """Those of the host only if its meters covered METERED of the interval."""
    metrics = {each.name: each for each in (*HEADLINE, *ECHO_HEADLINES, *OF_CERTIFICATIONS, *EXPLORATORY)}
    enough = metered >= METERED
    return {
        name: BY_NAME[name].take_from(step) if name in BY_NAME and (enough or not each.needs_meters) else None
        for name, each in metrics.items()
    } | {name: None for name in RATES if not BY_NAME[name].take_from(step)}


def list_part_distributions(step: StepFigures) -> dict[str, dict[Metric, Distribution]]:
    """By metric, of each class of transactions or each group whose keys are timed."""
    classes = [(each.label, each.response) for each in step.classes]
    groups = [(each.group, each.echo) for each in step.keys]
    return {
        name: {metric(name).for_part(part): timed for part, timed in parts if timed.total}
        for name, parts in (("response.p95", classes), ("echo.p95", groups))
    }


def why_excluded(summary: Summary, step: StepFigures | None, number: int) -> str | None:
    """Why a run is not used: it did not end as planned, or has doubts that do not blame the host."""
    if summary.ended != "completed":
        return f"it was {summary.ended}" if summary.ended != "failed" else "it failed"
    if requests := list_requests(summary.recorded.run):
        return f"it did not keep to its plan: users were changed while it went on ({join_words(requests)})"
    if step is None:
        return f"it has no step {number + 1}"
    if step.seconds < WHOLE * step.planned_seconds:
        return f"it measured {step.seconds:.1f} s of {step.planned_seconds:.1f} s"
    doubts = [each for each in doubts_of(summary, number) if each.doubt.blames != "host"]
    return f"INVALID: {doubts[0]}" if doubts else None


def doubts_of(summary: Summary, number: int) -> list[LocatedDoubt]:
    return [doubted for doubted in summary.doubts if doubted.step in {None, number}]


def estimate_effective_size(step: StepRecords) -> float:
    """Effective sample size of responses: the number of independent ones whose mean has the same variance.

    The variance is that of the mean of the seconds' means, with their autocorrelation.
    """
    pooled = step.pool(lambda tag: tag.series == "response")
    if pooled is None:
        return 0.0
    means = [row.sums.response / row.transactions for row in step.rows if row.transactions]
    if len(means) < LEAST_SECONDS:
        return pooled.count / TYPICAL
    error = variance_of_mean(means)
    return min(variance(pooled) / error, pooled.count) if error else float(pooled.count)


def variance(histogram: Histogram) -> float:
    return sum(count * (value - histogram.mean) ** 2 for value, count in histogram.buckets()) / histogram.count
