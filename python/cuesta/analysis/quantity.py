"""A printed number as an interval, and interval arithmetic.

A print is rounded to its last digit: `25.4` stands for 25.35 to 25.45. `<15%` is a bound, `10-12%` a range with its
mean, `0:04:05` a clock's time, truncated to seconds.
"""

import re
from dataclasses import dataclass
from itertools import product
from math import inf

PLAIN = r"\d*\.?\d+|\d+\."
GROUPED = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"
NUMBER = rf"(?:{GROUPED}|{PLAIN})"
PRINT = re.compile(rf"\s*(?P<bound>[<>]?)\s*(?P<low>{NUMBER})(?:\s*-\s*(?P<high>{NUMBER}))?(?P<rest>[^\d]*)$")
CLOCK = re.compile(r"\s*(?:(\d+):)?(\d+):(\d\d)\s*$")

SLACK = 1e-9
"""Relative error of floating-point arithmetic."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its bounds."""

    low: float
    value: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> "Quantity":
        """A number that was counted, not rounded."""
        return cls(value, value, value)

    @property
    def slack(self) -> float:
        return SLACK * max(abs(self.value), 1e-9)

    def may_be(self, other: "Quantity") -> bool:
        """Whether both intervals overlap."""
        slack = self.slack + other.slack
        return self.low <= other.high + slack and other.low <= self.high + slack

    def prints(self, value: float) -> bool:
        """Whether `value` may be printed like this."""
        return self.low - self.slack <= value <= self.high + self.slack

    def __neg__(self) -> "Quantity":
        return Quantity(-self.high, -self.value, -self.low)

    def __add__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.low + other.low, self.value + other.value, self.high + other.high)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self + -other

    def __mul__(self, other: "Quantity") -> "Quantity":
        corners = [multiply(a, b) for a, b in product((self.low, self.high), (other.low, other.high))]
        return Quantity(min(corners), self.value * other.value, max(corners))

    def __truediv__(self, other: "Quantity") -> "Quantity":
        if other.value == 0:
            raise ZeroDivisionError
        if other.low <= 0 <= other.high:  # a small print such as 0.01 ± 0.01: no bound is known
            return Quantity(-inf, self.value / other.value, inf)
        return self * Quantity(1 / other.high, 1 / other.value, 1 / other.low)

    def __mod__(self, other: "Quantity") -> "Quantity":
        return Quantity.exactly(self.value % other.value)


def multiply(a: float, b: float) -> float:
    """0 × ∞ is 0."""
    return 0.0 if a == 0 or b == 0 else a * b


def parse_print(text: str, cut_off: bool = False) -> Quantity | None:
    """Parse a print whose digits were rounded or truncated; None if it is no number."""
    if clock := CLOCK.match(text):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        begun = 3600.0 * hours + 60 * minutes + seconds
        return Quantity(begun, begun + 0.5, begun + 1)
    match = PRINT.match(text)
    if not match:
        return None
    low, high = parse_number(match["low"]), parse_number(match["high"] or match["low"])
    if match["bound"]:
        return Quantity(0.0, low, low) if match["bound"] == "<" else Quantity(low, low, inf)
    if match["high"]:
        return Quantity(low, (low + high) / 2, high)
    half = 0.5 * 10.0 ** -count_decimals(text)
    return Quantity(low, low, low + 2 * half) if cut_off else Quantity(low - half, low, low + half)


def parse_number(digits: str) -> float:
    return float(digits.replace(",", ""))


def count_decimals(text: str) -> int:
    """Count the decimals of the last number in a print."""
    numbers = re.findall(NUMBER, text)
    return len(numbers[-1].partition(".")[2]) if numbers else 0


def parse_unit(text: str) -> str:
    """The word after the number of a print."""
    match = re.match(rf"\s*[<>]?\s*{NUMBER}\s*(\S*)", text)
    return match[1].rstrip(".,;") if match else text.strip()


def write_like(value: float, like: str) -> str:
    """A computed number in the format of a print."""
    if CLOCK.match(like):
        return f"{value // 3600:.0f}:{value % 3600 // 60:02.0f}:{value % 60 // 1:02.0f}"
    grouped = "," if re.search(GROUPED, like) or abs(value) >= 1e5 else ""
    return f"{value:{grouped}.{count_decimals(like)}f}"
