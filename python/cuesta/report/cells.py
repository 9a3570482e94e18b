"""A meter's figure in a cell of a table, `—` where it could not be had, and how it was had: its tier."""

from collections.abc import Mapping
from typing import Any

from cuesta.units import ABSENT, count, digits, seconds, signed

Figure = Mapping[str, Any]
"""`{value, tier}` or `{why}`."""


def tiers(*figures: Figure) -> str:
    """Name the tiers of figures, each once; nothing if none is known."""
    return ", ".join(dict.fromkeys(figure["tier"] for figure in figures if "tier" in figure))


def in_brackets(*figures: Figure) -> str:
    """Name them at the end of a line."""
    found = tiers(*figures)
    return f" ({found})" if found else ""


def tiered(row_: str, *figures: Figure) -> str:
    """Name the tier at the end of a row."""
    return f"{row_}  {tiers(*figures)}"


def percent(figure: Figure) -> str:
    value = figure.get("value")
    return ABSENT if value is None else signed(f"{value:.1f}")


def number(figure: Figure) -> str:
    value = figure.get("value")
    return ABSENT if value is None else digits(value)


def whole(figure: Figure) -> str:
    value = figure.get("value")
    return ABSENT if value is None else count(round(value))


def duration(figure: Figure) -> str:
    return seconds(figure.get("value"))


def per_s(figure: Figure) -> str:
    counted = figure.get("value")
    return ABSENT if counted is None else rate(counted["per_s"])


def rate(value: float | None) -> str:
    if value is None:
        return ABSENT
    return count(value) if value >= 9.95 or value == 0 else f"{value:.1f}"
