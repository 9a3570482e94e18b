"""Writes a meter's figure in a cell of a table, `—` if it has no value; and the tiers of a row."""

from collections.abc import Callable
from typing import Any

from cuesta.records.meter_figure import MeterFigure
from cuesta.records.meter_report import Count
from cuesta.units import ABSENT, count, digits, seconds, write_minus


def tiered(row: str, *figures: MeterFigure[Any]) -> str:
    return f"{row}  {list_tiers(*figures)}"


def writer(write: Callable[[float], str]) -> Callable[[MeterFigure[float]], str]:
    """A function that writes a figure's value with `write`, and `—` for a figure without one."""
    return lambda figure: ABSENT if figure.value is None else write(figure.value)


percent = writer(lambda value: write_minus(f"{value:.1f}"))
number = writer(digits)
whole = writer(lambda value: count(round(value)))


def duration(figure: MeterFigure[float]) -> str:
    return seconds(figure.value)


def per_s(figure: MeterFigure[Count]) -> str:
    counted = figure.value
    return ABSENT if counted is None else rate(counted.per_s)


def rate(value: float | None) -> str:
    if value is None:
        return ABSENT
    return count(value) if value >= 9.95 or value == 0 else f"{value:.1f}"


def name_cause(name: str) -> str:
    return name.replace("_", " ")


def list_tiers(*figures: MeterFigure[Any]) -> str:
    """The tiers of figures, each once; empty if no figure has one."""
    return ", ".join(dict.fromkeys(figure.tier for figure in figures if figure.tier))


def bracket_tiers(*figures: MeterFigure[Any]) -> str:
    names = list_tiers(*figures)
    return f" ({names})" if names else ""
