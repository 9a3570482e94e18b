"""Readers of the raw values of a plan. They raise ValueError, which says what is wrong with the value."""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import NoReturn

from cuesta import _native

YEAR = 365 * 24 * 60 * 60 * 1_000_000
"""Microseconds of the longest duration."""


def refuse(why: str) -> NoReturn:
    """Raise ValueError: why a value is not what was expected."""
    raise ValueError(why)


def read_text(value: object) -> str:
    """Read a text without the blanks around it."""
    return value.strip() if isinstance(value, str) else refuse("write it in quotes")


def as_written(value: object) -> object:
    """A value of Python as a plan writes it: a timedelta as a duration, a path as text, a sequence as a list."""
    if isinstance(value, timedelta):
        microseconds = value // timedelta(microseconds=1)
        is_writable = 0 <= microseconds <= YEAR
        return _native.show_duration(1000 * microseconds) if is_writable else f"{microseconds}us"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(name): as_written(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [as_written(each) for each in value]
    return value


def number_as_text(value: object) -> str:
    """A number without an exponent, which durations do not have; a text without the blanks around it."""
    text = str(value).strip()
    return f"{value:.9f}" if isinstance(value, float) and "e" in text else text


def number_reader(least: float, most: float) -> Callable[[object], float]:
    """Read a number from `least` to `most`."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            refuse("it is not a number")
        try:
            parsed = float(value)
        except ValueError:
            refuse("it is not a number")
        return parsed if least <= parsed <= most else refuse(f"it must be from {least:,g} to {most:,g}")

    return read


def whole_reader(least: int, most: int) -> Callable[[object], int]:
    """Read a whole number from `least` to `most`."""

    def read(value: object) -> int:
        try:
            parsed = int(value) if isinstance(value, int | str) and not isinstance(value, bool) else refuse("")
        except ValueError:
            refuse("it is not a whole number")
        return parsed if least <= parsed <= most else refuse(f"it must be from {least:,} to {most:,}")

    return read
