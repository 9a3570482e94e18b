"""A side of a comparison as plain data: kept in a file, and compared later with runs that are made then."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cuesta.analysis.compare.comparability import HOST, KINDS
from cuesta.analysis.compare.metrics import EXPLORATORY, HEADLINES, Metric, metric
from cuesta.analysis.compare.sides import ComparedRun, Side
from cuesta.ledger import JsonObject

Value = TypeVar("Value")
PART = re.compile(r"(\w+)\{(.+)\}\.(\w+)")
"""The name of a metric of one part: `echo{typists}.p95`."""


@dataclass(frozen=True, slots=True)
class StoredSide:
    """The runs of a side. Lists have a value for each run; None is a figure that a run lacks."""

    facts: dict[str, JsonObject]
    """By kind, then by name, as `collect_facts`: those of the first run. Facts that are None are left out."""
    started: list[str]
    figures: dict[str, list[float | None]]
    """By metric; metrics that no run has are left out."""
    parts: dict[str, list[str]]
    """By metric: the names of the metrics of each class of transactions, or of each group."""
    effective_sizes: dict[str, list[float | None]]
    totals: dict[str, list[int | None]]
    bounds: list[list[str]]
    failures: dict[str, list[float | None]]
    errors: list[int]
    metered: list[float]
    honesty: str
    """How far CPU figures can be trusted."""


def store_runs(runs: Sequence[ComparedRun]) -> StoredSide:
    """The data of runs, at least one, that are alike."""
    return StoredSide(
        facts={
            kind: {name: value for name, value in of_kind.items() if value is not None}
            for kind, of_kind in runs[0].facts.items()
        },
        started=[run.started for run in runs],
        figures=_by_name([run.figures for run in runs]),
        parts={name: list(dict.fromkeys(each.name for each in parts)) for name, parts in _merge_parts(runs).items()},
        effective_sizes=_by_name([run.effective_sizes for run in runs]),
        totals=_by_name([run.totals for run in runs]),
        bounds=[sorted(run.bounds) for run in runs],
        failures=_by_name([run.failures for run in runs]),
        errors=[run.errors for run in runs],
        metered=[run.metered for run in runs],
        honesty=runs[0].honesty,
    )


def restore_side(stored: StoredSide, name: str) -> Side:
    """The side, which messages call `name`. Raises ValueError if its lists are not of one length."""
    lists: list[Sequence[object]] = [stored.started, stored.bounds, stored.errors, stored.metered]
    lists += [*stored.figures.values(), *stored.effective_sizes.values(), *stored.totals.values()]
    lists += stored.failures.values()
    if len(lengths := set(map(len, lists))) != 1:
        raise ValueError(f"lists of {' and '.join(map(str, sorted(lengths)))} values, and each run has one")
    return Side(Path(name), [_restore_run(stored, name, number) for number in range(len(stored.started))], [])


def _restore_run(stored: StoredSide, name: str, number: int) -> ComparedRun:
    known = dict.fromkeys(each.name for metrics in (*HEADLINES, EXPLORATORY) for each in metrics)
    return ComparedRun(
        folder=Path(name, f"run-{number + 1}"),
        started=stored.started[number],
        facts={kind: stored.facts.get(kind, {}) for kind in (*KINDS, HOST)},
        figures={**known, **{figure: values[number] for figure, values in stored.figures.items()}},
        parts={figure: list(map(_read_metric, names)) for figure, names in stored.parts.items()},
        effective_sizes=_of_run(stored.effective_sizes, number),
        totals=_of_run(stored.totals, number),
        bounds=stored.bounds[number],
        failures=_of_run(stored.failures, number),
        errors=stored.errors[number],
        metered=stored.metered[number],
        honesty=stored.honesty,
        why_excluded=None,
    )


def _by_name(runs: Sequence[Mapping[str, Value | None]]) -> dict[str, list[Value | None]]:
    names = dict.fromkeys(name for run in runs for name, value in run.items() if value is not None)
    return {name: [run.get(name) for run in runs] for name in names}


def _of_run(table: Mapping[str, Sequence[Value | None]], number: int) -> dict[str, Value]:
    return {name: value for name, values in table.items() if (value := values[number]) is not None}


def _merge_parts(runs: Sequence[ComparedRun]) -> dict[str, list[Metric]]:
    names = dict.fromkeys(name for run in runs for name in run.parts)
    return {name: [part for run in runs for part in run.parts.get(name, ())] for name in names}


def _read_metric(name: str) -> Metric:
    """The metric of a part by its name. Raises ValueError."""
    if not (match := PART.fullmatch(name)):
        raise ValueError(f"expected a figure of one part, such as `echo{{typists}}.p95`, got {name!r}")
    series, part, statistic = match.groups()
    return metric(f"{series}.{statistic}").for_part(part)
