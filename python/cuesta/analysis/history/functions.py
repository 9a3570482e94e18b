"""Operators and functions of formulas, of numbers and of prints; `formula` describes them."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from cuesta.analysis.history.quantity import Quantity, unit

Value = Quantity | str | frozenset[str]


class UnreadableError(Exception):
    """A print is no number."""


def numeric(value: Value) -> Quantity:
    if not isinstance(value, Quantity):
        raise UnreadableError
    return value


def octal(texts: Sequence[str]) -> Quantity:
    try:
        return Quantity.exactly(int(texts[0], 8))
    except ValueError:
        raise UnreadableError from None


def weekday(texts: Sequence[str]) -> str:
    for form in ("%m/%d/%y", "%B %d, %Y", "%d %B %Y"):
        try:
            return datetime.strptime(texts[0].strip(), form).strftime("%a")
        except ValueError:
            continue
    raise UnreadableError


def form(texts: Sequence[str]) -> str:
    """Shape of a print: places behind the point, and signs."""
    return re.sub(r"\d", "0", re.sub(r"(?<![.\d])\d+", "0", texts[0].strip()))


def summed(values: Sequence[Quantity]) -> Quantity:
    return sum(values[1:], start=values[0])


def least(values: Sequence[Quantity]) -> Quantity:
    return Quantity(*(min(getattr(each, bound) for each in values) for bound in Quantity.__slots__))


def most(values: Sequence[Quantity]) -> Quantity:
    return Quantity(*(max(getattr(each, bound) for each in values) for bound in Quantity.__slots__))


ARITHMETIC: Mapping[str, Callable[[Quantity, Quantity], Quantity]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": lambda a, b: a % b,
}
OF_NUMBERS: Mapping[str, Callable[[Sequence[Quantity]], Quantity]] = {
    "sum": summed,
    "min": least,
    "max": most,
    "mid": lambda values: Quantity.exactly(values[0].value),
    "low": lambda values: Quantity.exactly(values[0].low),
    "high": lambda values: Quantity.exactly(values[0].high),
}
OF_PRINTS: Mapping[str, Callable[[Sequence[str]], Value]] = {
    "octal": octal,
    "text": lambda texts: texts[0].strip(),
    "unit": lambda texts: unit(texts[0]),
    "form": form,
    "weekday": weekday,
    "count": lambda texts: Quantity.exactly(sum(letter in texts[-1] for letter in texts[0])),
    "distinct": lambda texts: Quantity.exactly(len({text.strip() for text in texts})),
}
