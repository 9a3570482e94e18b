"""What a measurement tells other programs: figures of a run, and statistics of its single values."""

import statistics
from typing import Any

from cuesta.analysis.step import StepRecords, is_class
from cuesta.analysis.waits import Waits, values_needed
from cuesta.figures import BY_NAME
from cuesta.figures.durations import Distribution
from cuesta.figures.step import StepFigures
from cuesta.records.series import KEYS
from cuesta.workflow.run_result import Run

FIGURES = tuple(
    f"{name}.{statistic}" for name in ("echo", "whole_frame", "response") for statistic in ("p50", "p95", "p99")
)


def read_figures(run: Run) -> dict[str, float]:
    """Figures of a run by name, in seconds, without those that were not measured, or of too few values."""
    step = run.summary.last
    return {
        name: value
        for name in FIGURES
        if (value := BY_NAME[name].take_from(step)) is not None and has_enough(name, step)
    }


def has_enough(figure: str, step: StepFigures) -> bool:
    """Whether a run has enough values for a percentile: at least one lies beyond it."""
    series, statistic = figure.split(".")
    values: Distribution = getattr(step, series)
    return values.total >= values_needed(statistic)


def list_lower_bounds(run: Run) -> list[str]:
    """Those of the figures that are at least so large, and not known."""
    names = dict.fromkeys(figure.partition(".")[0] for figure in FIGURES)
    distributions: dict[str, Distribution] = {name: getattr(run.summary.last, name) for name in names}
    return [f"{name}.{statistic}" for name, values in distributions.items() for statistic in values.at_least]


def describe_series(run: Run) -> dict[str, dict[str, Any]]:
    """By series: statistics of what was answered, of each key or transaction, under pytest-benchmark's names."""
    step = StepRecords(run.summary.recorded, run.summary.last.step)
    waits = {"echo": step.waits("echo", lambda tag: tag.source == KEYS), "response": step.waits("response", is_class)}
    return {name: describe_values(values) for name, of_series in waits.items() if (values := list_values(of_series))}


def list_values(waits: Waits) -> list[float]:
    """In ascending order, in seconds, each at the midpoint of its bin."""
    return [value for value, count in (waits.answered.buckets() if waits.answered else []) for _ in range(count)]


def describe_values(values: list[float]) -> dict[str, Any]:
    """Statistics of values in ascending order, at least one. A round is one value."""
    mean, total = statistics.fmean(values), sum(values)
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    q1, median, q3 = statistics.quantiles(values, method="inclusive") if len(values) > 1 else values * 3
    fences = (q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1))
    within = [value for value in values if fences[0] <= value <= fences[1]]
    far = sum(abs(value - mean) > spread for value in values)
    outliers = len(values) - len(within)
    return {
        "min": values[0],
        "max": values[-1],
        "mean": mean,
        "stddev": spread,
        "rounds": len(values),
        "median": median,
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": outliers,
        "stddev_outliers": far,
        "outliers": f"{far};{outliers}",
        "ld15iqr": within[0],
        "hd15iqr": within[-1],
        "ops": 1 / mean if mean else 0.0,
        "total": total,
        "iterations": 1,
    }
