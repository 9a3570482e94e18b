"""Reads one run of a side: the figures that are compared over runs, and why the run cannot be used.

A run gives one number per figure, however many transactions it had. Figures that were not measured are None.
"""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cuesta._native import Histogram
from cuesta.analysis.certify.run import CertificationRun
from cuesta.analysis.compare.comparability import RunFacts, facts, with_setup
from cuesta.analysis.compare.metrics import (
    COMMAND,
    COMPLETION,
    CREATION,
    EXPLORATORY,
    HEADLINE,
    OF_CERTIFICATIONS,
    OF_ECHOES,
    Metric,
    metric,
)
from cuesta.analysis.stationarity import LEAST_VALUES, resemblance
from cuesta.analysis.summary import LAST, Summary, summarise
from cuesta.figures import BY_NAME
from cuesta.figures.step import Distribution, StepFigures
from cuesta.ledger import Interval
from cuesta.ledger.record import CertificationSetup

ENOUGH_FOR_P99 = 1000.0
"""Independent transactions that a 99th percentile needs."""
TYPICAL = 12.0
"""Transactions per independent one, for runs too short to show their autocorrelation; measured for a closed load with a
server 70 % busy."""
WHOLE = 0.99
"""Share of the planned interval that a run must have measured."""
RATES = ("throughput", "keystrokes")
"""Rates that are None if nothing was counted."""
METERED = 0.75
"""Share of the interval that the host's meters must have covered."""
OF_TRANSACTIONS = ("response", "first_response")


@dataclass(frozen=True, slots=True)
class RunSample:
    """One run of a side, as one number for each figure."""

    folder: Path
    started: str
    """In UTC, as in `run.json`."""
    facts: RunFacts
    figures: Mapping[str, float | None]
    """By the names of the metrics."""
    parts: Mapping[str, Sequence[Metric]]
    """By metric: the metrics of each class of transactions, or of each group whose keys are timed."""
    effective: Mapping[str, float]
    """By series: the number of independent values with the same variance of the mean."""
    errors: int
    metered: float
    """Share of the interval that the host's meters covered."""
    honesty: str
    """How far its CPU figures can be trusted; empty if there are none."""
    unusable: str | None
    """Why it cannot be used."""


def run_sample(folder: Path, step: int | None = None) -> RunSample:
    """Read a run; of a sweep, the step with this number or else its last."""
    return of_summary(folder, summarise(folder, LAST if step is None else step), step)


def of_certification_run(run: CertificationRun, setup: CertificationSetup) -> RunSample:
    own = of_summary(run.folder, run.summary)
    measured = {
        CREATION: run.cpu("creation").value,
        COMMAND: run.cpu("command").value,
        COMPLETION: statistics.fmean(run.times.completion) if run.times.completion else None,
    }
    return replace(
        own,
        facts=with_setup(own.facts, setup),
        figures={**own.figures, **measured},
        unusable=next(iter(run.doubts), None),
    )


def of_summary(folder: Path, summary: Summary, step: int | None = None) -> RunSample:
    """Take the step with this number, by default the plan's last."""
    number = planned_last(summary) if step is None else step
    measured_step = next((figures for figures in summary.steps if figures.step == number), None)
    figures = measured_step or summary.last
    meters = figures.host.meters
    run = summary.recorded.run
    metered = meters.seconds / figures.seconds if meters and figures.seconds else 0.0
    timed = timed_parts(figures)
    return RunSample(
        folder=folder,
        started=str(run.get("started", "")),
        facts=facts(run),
        figures=compared(figures, metered)
        | {each.name: of[part].p95 for name, of in timed.items() for part, each in of_parts(name, of)},
        parts={name: [each for _, each in of_parts(name, of)] for name, of in timed.items()},
        effective=dict.fromkeys(OF_TRANSACTIONS, effective(summary, figures.step))
        | {"echo": figures.echo.count / TYPICAL},
        errors=figures.errors.count,
        metered=metered,
        honesty=meters.honesty if meters else "",
        unusable=unusable(summary, measured_step, number),
    )


def compared(step: StepFigures, metered: float) -> dict[str, float | None]:
    """Take the figures from a step; the host's only if its meters covered enough of the interval."""
    metrics = {each.name: each for each in (*HEADLINE, *OF_ECHOES, *OF_CERTIFICATIONS, *EXPLORATORY)}
    enough = metered >= METERED
    return {
        name: BY_NAME[name].of(step) if name in BY_NAME and (enough or not each.needs_meters) else None
        for name, each in metrics.items()
    } | {name: None for name in RATES if not BY_NAME[name].of(step)}


def timed_parts(step: StepFigures) -> dict[str, dict[str, Distribution]]:
    """Responses by class of transactions, echoes by group of users."""
    classes = {class_name(each.group, each.transaction): each.response for each in step.classes}
    groups = {each.group: each.echo for each in step.keys}
    by_part = {"response.p95": classes, "echo.p95": groups}
    return {name: {part: each for part, each in of.items() if each.count} for name, of in by_part.items()}


def of_parts(name: str, parts: Iterable[str]) -> Iterator[tuple[str, Metric]]:
    for part in parts:
        yield part, metric(name).of_part(part)


def class_name(group: str, transaction: str) -> str:
    """The name of a class of transactions: only the group's, if the transaction has the same name."""
    return group if group == transaction else f"{group}: {transaction}"


def planned_last(summary: Summary) -> int:
    return summary.planned_steps - 1


def unusable(summary: Summary, step: StepFigures | None, number: int) -> str | None:
    """Why a run may not be used: it did not end as planned, or its figures cannot be trusted."""
    if summary.ended != "completed":
        return f"it was {summary.ended}" if summary.ended != "failed" else "it failed"
    if step is None:
        return f"it has no step {number + 1}"
    if step.seconds < WHOLE * step.planned_seconds:
        return f"it measured {step.seconds:.1f} s of {step.planned_seconds:.1f} s"
    doubts = [doubted for doubted in summary.doubts if doubted.step in {None, number}]
    return f"INVALID: {doubts[0]}" if doubts else None


def effective(summary: Summary, step: int) -> float:
    """Effective number of transactions: the number of independent ones whose mean response has the same variance.

    The variance is that of the mean of the seconds' means, with their autocorrelation.
    """
    rows = [row for agent in summary.recorded.agents for row in agent.intervals if row.step == step and row.measured]
    pooled = summary.recorded.pooled(lambda tag: tag.step == step and tag.series == "response")
    if pooled is None:
        return 0.0
    means = seconds_means(rows)
    if len(means) < LEAST_VALUES:
        return pooled.count / TYPICAL
    middle = statistics.fmean(means)
    of_mean = statistics.variance(means) / len(means) * resemblance([mean - middle for mean in means])
    return min(variance(pooled) / of_mean, pooled.count) if of_mean else float(pooled.count)


def seconds_means(rows: Sequence[Interval]) -> list[float]:
    return [row.sums["response"] / row.transactions for row in rows if row.transactions]


def variance(histogram: Histogram) -> float:
    return sum(count * (edge - histogram.mean) ** 2 for edge, count in histogram.buckets()) / histogram.count
