"""Figures as reports show them: the catalogue's label and meaning, and the value in its unit."""

from collections.abc import Callable, Iterable

from cuesta import units
from cuesta.analysis.limits import number_of_values
from cuesta.figures import CATALOGUE, Unit
from cuesta.figures.durations import Distribution
from cuesta.figures.reference import Reference
from cuesta.figures.step import StepFigures
from cuesta.report.model import Fact, Words
from cuesta.units import ABSENT, AT_LEAST, count, digits, seconds

WRITTEN: dict[str, Callable[[float], str]] = units.WRITTEN | {Unit.PER_SECOND: digits}
"""How a value is written below its label, which has the unit of a rate."""
ENOUGH = 10
"""A percentile with fewer values than this beyond it is marked."""
BEYOND = {"p50": 0.5, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p999": 0.001}
"""The part of the values that lies beyond each percentile."""
PERCENTILES = {**{name: name for name in BEYOND}, "p999": "p99.9", "max": "max"}
"""Statistics of a response table, and their heads."""
MARK = "*"
FEW = f"{MARK} rests on fewer than {ENOUGH} values"
UNSTEADY = "†"
NO_STEADY_STATE = f"{UNSTEADY} no steady state: of this run alone, not of the host"
CENSORED = "+ those that were not answered: they took at least as long as they were waited for, and count so"


def write_figure(name: str, step: StepFigures) -> str:
    figure = CATALOGUE[name]
    value = figure.take_from(step)
    table, _, statistic = name.rpartition(".")
    bound = AT_LEAST * (statistic in getattr(getattr(step, table, None), "at_least", ()))
    return ABSENT if value is None else bound + WRITTEN[figure.unit](value)


def write_marked(name: str, step: StepFigures) -> str:
    """A figure of a step, with a mark for few values or no steady state."""
    table, _, statistic = name.rpartition(".")
    distribution = getattr(step, table, None)
    if not isinstance(distribution, Distribution) or not distribution.total:
        return write_figure(name, step)
    return write_figure(name, step) + MARK * is_weak(distribution, statistic) + unsteady_mark(table, step)


def unsteady_mark(series: str, step: StepFigures) -> str:
    """The mark of the host's durations in a step without a steady state; else empty. Lateness is the driver's."""
    return UNSTEADY * (series != "lateness" and not step.settled.steady)


def explain_marks(cells: Iterable[object]) -> list[str]:
    """The meaning of the marks at the ends of cells."""
    texts = [str(cell) for cell in cells]
    meanings = {MARK: FEW, UNSTEADY: NO_STEADY_STATE}
    return [note for mark, note in meanings.items() if any(mark in text[-2:] for text in texts)]


def mark_few(figure: Reference, step: StepFigures) -> str:
    """The mark of a percentile of few values; else empty."""
    number = number_of_values(figure, step)
    if not str(figure.statistic).startswith("p"):
        return ""
    return MARK * bool(number and is_few(number, 1 - float(str(figure.statistic)[1:]) / 100))


def fact(name: str, step: StepFigures, detail: str = "") -> Fact:
    """A figure of a step with its label and meaning; `detail` follows the value."""
    figure = CATALOGUE[name]
    return Fact(figure.label, f"{write_figure(name, step)}{detail}", figure.meaning)


def head(name: str, text: str = "") -> Words:
    figure = CATALOGUE[name]
    return Words(text or figure.label, figure.meaning)


def write_count(durations: Distribution) -> str:
    """The number of values, and of those that were not answered."""
    return count(durations.count) + (f" +{count(durations.censored)}" if durations.censored else "")


def write_duration(durations: Distribution, name: str) -> str:
    """A statistic of a distribution, with a sign if it is a lower bound."""
    return AT_LEAST * (name in durations.at_least) + seconds(getattr(durations, name))


def write_percentile(durations: Distribution, name: str) -> str:
    """A percentile or the maximum, with a mark for few values."""
    return write_duration(durations, name) + MARK * (getattr(durations, name) is not None and is_weak(durations, name))


def is_weak(durations: Distribution, name: str) -> bool:
    """Whether a percentile has fewer than `ENOUGH` values beyond it."""
    return name in BEYOND and is_few(durations.total, BEYOND[name])


def is_few(number: int, beyond: float) -> bool:
    """Whether fewer than `ENOUGH` of a number of values are in the share `beyond` of them."""
    return number * beyond < ENOUGH - 1e-9


def has_weak(durations: Distribution) -> bool:
    return durations.total > 0 and is_weak(durations, "p999")


def percentiles(durations: Distribution) -> tuple[str, ...]:
    """The cells below `PERCENTILES`."""
    return tuple(write_percentile(durations, name) for name in PERCENTILES)


def write_rate(rate: float | None) -> str:
    return ABSENT if rate is None else f"{digits(rate)}/s"
