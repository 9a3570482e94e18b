"""Writes figures for people: with three digits and a fitting unit; sampled figures, only with their certain digits."""

import math
import re
from collections.abc import Callable, Iterable, Mapping

ABSENT = "—"
AT_LEAST = "≥ "
"""Before a lower bound of a figure that is not known."""


def seconds(value: float | None) -> str:
    """Write a duration, as `341 ms`."""
    if value is None:
        return ABSENT
    unit, factor = unit_of(value)
    return write_minus(f"{value * factor:.0f} ns") if unit == "ns" else f"{digits(value * factor)} {unit}"


def format_part(part: float, whole: float) -> str:
    """A duration in the unit of a longer one, without the unit if both share it: `310` of `319 ms`."""
    written, unit = seconds(part).rsplit(" ", 1)
    return written if seconds(whole).endswith(f" {unit}") else f"{written} {unit}"


def in_unit(value: float | None, unit: str) -> str:
    """Write a value in a unit of the catalogue of figures (`cuesta.figures.Unit`)."""
    return ABSENT if value is None else WRITTEN[unit](value)


def minutes(value: float) -> str:
    """Write a planned length, as `500 ms`, `90 s`, `2.4 minutes`."""
    if value < 1:
        return seconds(value)
    return f"{value:.0f} s" if value < 120 else f"{value / 60:.1f}".removesuffix(".0") + " minutes"


def places(error: float) -> int:
    """The decimal place of an error's first digit: 1 for tenths, −1 for tens. Digits beyond it are noise."""
    return 9 if error <= 0 else -math.floor(math.log10(error) + 1e-9)


def write_rounded(value: float, error: float, most: int = 1) -> str:
    """Write a number up to the first digit of its standard error, with at most `most` decimals."""
    place = min(places(error), most)
    return write_minus(f"{round(value, place) + 0.0:,.{max(place, 0)}f}")


def percent(value: float, error: float | None) -> str:
    """Write a percentage without its sign; to tenths, or less where its standard error is larger."""
    if error is None:
        return write_minus(f"{value:.1f}")
    return write_rounded(value, error, 2 if 0 < abs(value) < 0.995 else 1)


def interval(low: float, high: float, most: int | None = None) -> str:
    """Write an interval, as `44.4–46.0`, to about a tenth of its length. `most` decimals: by default, as `percent`."""
    error = (high - low) / 4
    if 0 < low < 10.0 ** -places(error):  # it would be rounded to 0
        error /= 10
    if most is None:
        most = 2 if low < 0.995 else 1
    return f"{write_rounded(low, error, most)}–{write_rounded(high, error, most)}"


def upper_bound(bound: float) -> str:
    """Write the upper bound of a percentage that no sample found."""
    return f"under {write_rounded(bound, bound, 3)} %"


def seconds_within(value: float, error: float) -> str:
    """Write a duration up to the first digit of its standard error."""
    unit, factor = unit_of(round(value, places(error)))
    size = abs(value * factor)
    return f"{write_rounded(value * factor, error * factor, 2 if size < 9.995 else 1 if size < 99.95 else 0)} {unit}"


def seconds_between(low: float, high: float) -> str:
    """Write an interval of durations, as `110–136 ms`."""
    unit, factor = unit_of(high)
    return f"{interval(low * factor, high * factor, 2)} {unit}"


def unit_of(value: float) -> tuple[str, float]:
    """The unit in which to write a duration, and how many of these units are a second."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if abs(value) * factor >= 0.9995:
            return unit, factor
    return "ns", 1e9


def digits(value: float) -> str:
    """Write a number with three significant digits, thousands whole."""
    size = abs(value)
    places = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return write_minus(f"{value:,.{places}f}")


def share(value: float | None) -> str:
    """Write a share, as `12.3 %`."""
    if value is None:
        return ABSENT
    percent = value * 100
    places = 2 if 0 < abs(percent) < 0.995 else 1 if abs(percent) < 99.95 else 0
    return write_minus(f"{percent:.{places}f} %")


def write_minus(number: str) -> str:
    """Replace the hyphen by a true minus sign; a number that rounds to zero has none."""
    return number.replace("-", "−" if re.search("[1-9]", number) else "")


def count(value: float) -> str:
    """Write a whole number, as `12,345`."""
    return f"{value:,.0f}"


def list_counts(counts: Mapping[str, int]) -> str:
    """List counts, each after its name."""
    return ", ".join(f"{name} {count(number)}" for name, number in counts.items())


def join_words(words: Iterable[str]) -> str:
    """List words: `a, b and c`; empty without any."""
    *others, last = [*words] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def many(number: int, thing: str) -> str:
    """Write a number with its noun: `1 user`, `96 users`."""
    return f"{count(number)} {thing if number == 1 else thing + 's'}"


WRITTEN: dict[str, Callable[[float], str]] = {
    "s": seconds,
    "ms": lambda value: seconds(value / 1e3),
    "share": share,
    "percent": lambda value: share(value / 100),
    "per s": lambda value: f"{digits(value)}/s",
    "count": lambda value: count(value) if value == round(value) else digits(value),
    "bytes": lambda value: f"{digits(value / 1024)} KiB",
}
