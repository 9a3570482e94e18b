"""One run as one replicate: the figures that are compared over runs, and why it may not be used.

A run gives one number to each figure, however many transactions it had. StepFigures that were not measured are None.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

from cuesta._native import Histogram
from cuesta.analysis.certify.run import Trial
from cuesta.analysis.compare.comparability import Facts, certified, facts
from cuesta.analysis.settled import LEAST_VALUES, resemblance
from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.step import Distribution, StepFigures
from cuesta.ledger import Interval
from cuesta.ledger.record import Given

ENOUGH_FOR_P99 = 1000.0
"""Transactions, were they independent, that a 99th percentile rests on."""
TYPICAL = 12.0
"""By how much neighbours' likeness lessens what transactions tell, where a run is too short to show it: what a closed
load with a server 70 % busy was found to have."""
WHOLE = 0.99
"""Share of the planned interval that a run must have measured."""
METERED = 0.75
"""Share of it that the host's meters must have seen."""
QUANTILES = ("p50", "p90", "p95", "p99")
OF_TRANSACTIONS = ("response", "first_response")

Kind = Literal["s", "ms", "per s", ""]


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of a run that is compared."""

    name: str
    """As `--json` has it."""
    label: str
    unit: Kind
    of: Callable[[StepFigures], float | None] = field(compare=False)
    more_is_better: bool = False
    needs_meters: bool = False
    """Whether it is there only if the host was metered."""


def _each(name: str) -> Callable[[StepFigures], float | None]:
    """Give what a transaction cost, if the meters saw enough of the interval."""

    def of(step: StepFigures) -> float | None:
        each, meters = step.host.per_transaction, step.host.meters
        cost: float | None = getattr(each, name) if each else None
        return cost if meters and meters.seconds >= METERED * step.seconds else None

    return of


def _quantile(series: str, name: str) -> Metric:
    label = f"{series.replace('_', ' ')} {name}"
    return Metric(f"{series}.{name}", label, "s", lambda step: getattr(getattr(step, series), name))


HEADLINE = (
    Metric("demand", "CPU a transaction", "ms", _each("cpu_ms"), needs_meters=True),
    Metric("throughput", "throughput", "per s", lambda step: step.transactions.per_s or None, more_is_better=True),
    _quantile("response", "p95"),
)
"""What verdicts are given on: the demand is the steadiest, throughput hides a change where users mostly think, and the
95th percentile is what a user feels. Few, because each one more asks more runs of the others."""
ECHO = _quantile("echo", "p95")
"""Besides, where keys are timed: how it feels to type."""
OF_ECHOES = (
    Metric("keystrokes", "keys", "per s", lambda step: step.keystrokes.per_s or None, more_is_better=True),
    ECHO,
)
"""Instead, where tapes have no transactions but echoes."""
CREATION = "creation.cpu"
OF_CERTIFICATIONS = (
    Metric(CREATION, "CPU, creation", "s", lambda _: None, needs_meters=True),
    Metric("command.cpu", "CPU, commands", "s", lambda _: None, needs_meters=True),
    Metric("completion", "completion", "s", lambda _: None),
)
"""Instead, of certifications: CPU seconds of all subject processes in either phase, and mean real time of a process."""
HEADLINES = (OF_CERTIFICATIONS, HEADLINE, OF_ECHOES)
"""The first applies whose last figure was measured."""
EXPLORATORY = (
    *(_quantile(series, name) for series in (*OF_TRANSACTIONS, "echo") for name in QUANTILES),
    Metric("response.mean", "response mean", "s", lambda step: step.response.mean),
    Metric("minor_faults", "faults a transaction", "", _each("minor_faults")),
    Metric("switches", "switches a transaction", "", _each("switches")),
    Metric("system_calls", "calls a transaction", "", _each("system_calls")),
    Metric("ios", "I/Os a transaction", "", _each("ios")),
)
"""Shown with their intervals, and never judged."""


@dataclass(frozen=True, slots=True)
class Replicate:
    """One run of one side."""

    folder: Path
    started: str
    """UTC, as the record has it."""
    facts: Facts
    figures: Mapping[str, float | None]
    """By the names of the metrics."""
    parts: Mapping[str, Sequence[Metric]]
    """By the name of a metric: the same of each class of transactions, or of each group whose keys are timed."""
    effective: Mapping[str, float]
    """By kind of duration: independent ones that would tell as much as those of the run."""
    errors: int
    metered: float
    """Share of the interval that the host's meters saw."""
    honesty: str
    """What its figures of CPU are worth; empty if there are none."""
    unusable: str | None
    """Why it may not be used."""


def replicate(folder: Path, step: int | None = None) -> Replicate:
    """Read a run, and of a sweep the step with this number; by default its last."""
    return of_summary(folder, summarise(folder), step)


def of_trial(trial: Trial, given: Given) -> Replicate:
    """Take a run of a certification."""
    own = of_summary(trial.folder, trial.summary)
    measured = {
        CREATION: trial.cpu("creation").value,
        "command.cpu": trial.cpu("command").value,
        "completion": statistics.fmean(trial.played.completion) if trial.played.completion else None,
    }
    return replace(
        own,
        facts=certified(own.facts, given),
        figures={**own.figures, **measured},
        unusable=next(iter(trial.doubts), None),
    )


def of_summary(folder: Path, summary: Summary, step: int | None = None) -> Replicate:
    """Take a run that was summed up."""
    number = planned_last(summary) if step is None else step
    found = next((figures for figures in summary.steps if figures.step == number), None)
    figures = found or summary.last
    meters = figures.host.meters
    run = summary.recorded.run
    parts = parts_of(figures)
    metrics = (*HEADLINE, *OF_ECHOES, *OF_CERTIFICATIONS, *EXPLORATORY, *chain.from_iterable(parts.values()))
    return Replicate(
        folder=folder,
        started=str(run.get("started", "")),
        facts=facts(run),
        figures={metric.name: metric.of(figures) for metric in metrics},
        parts=parts,
        effective=dict.fromkeys(OF_TRANSACTIONS, effective(summary, figures.step))
        | {"echo": figures.echo.count / TYPICAL},
        errors=figures.errors.count,
        metered=meters.seconds / figures.seconds if meters and figures.seconds else 0.0,
        honesty=meters.honesty if meters else "",
        unusable=unusable(summary, found, number),
    )


def parts_of(step: StepFigures) -> dict[str, list[Metric]]:
    """Take apart what is timed: responses by class of transactions, echoes by group."""
    classes = {class_name(each.group, each.transaction): each.response for each in step.classes}
    groups = {each.group: each.echo for each in step.keys}
    return {"response.p95": list(_parts("response", classes)), "echo.p95": list(_parts("echo", groups))}


def _parts(series: str, timed: Mapping[str, Distribution]) -> Iterator[Metric]:
    for name, each in timed.items():
        if each.count:
            yield Metric(f"{series}{{{name}}}.p95", f"{series} p95 of {name}", "s", partial(_p95, each))


def _p95(timed: Distribution, _: StepFigures) -> float | None:
    return timed.p95


def class_name(group: str, transaction: str) -> str:
    """Name a class of transactions; a group that has only the one of its tape is named once."""
    return group if group == transaction else f"{group}: {transaction}"


def planned_last(summary: Summary) -> int:
    """Give the number of the plan's last step."""
    return summary.planned_steps - 1


def unusable(summary: Summary, step: StepFigures | None, number: int) -> str | None:
    """Say why a run may not be used: it did not come to its end, or cannot be trusted."""
    if summary.ended != "completed":
        return f"it was {summary.ended}" if summary.ended != "failed" else "it failed"
    if step is None:
        return f"it has no step {number + 1}"
    if step.seconds < WHOLE * step.planned_seconds:
        return f"it measured {step.seconds:.1f} s of {step.planned_seconds:.1f} s"
    doubts = [doubted for doubted in summary.doubts if doubted.step in {None, number}]
    return f"INVALID: {doubts[0]}" if doubts else None


def effective(summary: Summary, step: int) -> float:
    """Count the independent transactions that would tell as much of the mean response as those of a step do.

    The mean of so many has the variance that the mean of the seconds' means is found to have.
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
    """Give the mean response of each row that had any."""
    return [row.sums["response"] / row.transactions for row in rows if row.transactions]


def variance(histogram: Histogram) -> float:
    """Give the variance of a histogram's values, from its buckets."""
    return sum(count * (edge - histogram.mean) ** 2 for edge, count in histogram.buckets()) / histogram.count
