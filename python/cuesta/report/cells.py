"""A meter's figure in a cell of a table, `—` where it could not be had, and how it was had: its tier."""

from typing import Any

from cuesta.ledger.meter_figure import MeterFigure
from cuesta.ledger.meter_report import Count
from cuesta.units import ABSENT, count, digits, seconds, signed


def tiers(*figures: MeterFigure[Any]) -> str:
    """Name the tiers of figures, each once; nothing if none is known."""
    return ", ".join(dict.fromkeys(figure.tier for figure in figures if figure.tier))


def in_brackets(*figures: MeterFigure[Any]) -> str:
    """Name them at the end of a line."""
    found = tiers(*figures)
    return f" ({found})" if found else ""


def tiered(row_: str, *figures: MeterFigure[Any]) -> str:
    """Name the tier at the end of a row."""
    return f"{row_}  {tiers(*figures)}"


def percent(figure: MeterFigure[float]) -> str:
    value = figure.value
    return ABSENT if value is None else signed(f"{value:.1f}")


def number(figure: MeterFigure[float]) -> str:
    value = figure.value
    return ABSENT if value is None else digits(value)


def whole(figure: MeterFigure[float]) -> str:
    value = figure.value
    return ABSENT if value is None else count(round(value))


def duration(figure: MeterFigure[float]) -> str:
    return seconds(figure.value)


def per_s(figure: MeterFigure[Count]) -> str:
    counted = figure.value
    return ABSENT if counted is None else rate(counted.per_s)


def rate(value: float | None) -> str:
    if value is None:
        return ABSENT
    return count(value) if value >= 9.95 or value == 0 else f"{value:.1f}"
