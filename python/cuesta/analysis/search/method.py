"""The settings of a search, as `run.json` records them."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from cuesta.units import count, digits, many

Rule = Literal["regression", "rfc9971"]


def recorded_rate(rate: float) -> float:
    """A rate with four digits: a step's record, which has six, gives the same number back."""
    return float(f"{rate:.4g}")


@dataclass(frozen=True, slots=True)
class Method:
    """Settings of a search. Loads are users, or arrivals a second."""

    rule: Rule
    """`regression` fits the measured values; `rfc9971` classifies loads by how many of their trials missed."""
    lowest: float
    highest: float
    start: float
    """The first load that is tried."""
    whole: bool
    """Whether loads are whole numbers: users."""
    confirmations: int = 5
    """Trials that confirm a load; the bound needs at least two."""
    most_trials: int = 14
    """Most trials near the limit before the confirmation; most loads by the rule `rfc9971`."""
    narrow: float = 0.10
    """Stop at this relative width of the 90 % interval,"""
    narrow_loads: float = 4.0
    """or at this width in users; rates have no such width, since they may be of any size."""
    full_length: float = 60.0
    """Seconds of a full-length trial (RFC 9971, Goal Final Trial Duration); shorter ones count less there."""
    tries_again: bool = False
    """Whether the first load that passed is checked after each miss above it; earlier versions did not."""
    exceed_ratio: float = 0.5
    """The share of a load's trial time that may miss the limit (RFC 9971, Goal Exceed Ratio)."""
    trials_a_load: int = 3
    """The Goal Duration Sum of RFC 9971, in full-length trials."""

    def json(self) -> dict[str, Any]:
        """The settings as `run.json` has them."""
        return asdict(self)

    @staticmethod
    def from_json(recorded: dict[str, Any]) -> "Method":
        """Read the settings from `run.json`; settings that this version does not know are left out."""
        return Method(**{field.name: recorded[field.name] for field in fields(Method) if field.name in recorded})

    def with_unit(self, load: float) -> str:
        """`64 users`, or `30.0/s`."""
        return many(round(load), "user") if self.whole else f"{digits(load)}/s"

    def number(self, load: float) -> str:
        """The load without its unit: `64`, `30.0`."""
        return count(load) if self.whole else digits(load)

    def span(self, low: float, high: float) -> str:
        """`58 to 71 users`."""
        return f"{self.number(low)} to {self.with_unit(high)}"

    def load(self, wanted: float) -> float:
        """Round a load, a rate to four digits, and keep it within lowest and highest."""
        load = float(round(wanted)) if self.whole else recorded_rate(wanted)
        return min(max(load, self.lowest), self.highest)

    def allows(self, load: float) -> bool:
        """Whether a search may try a load."""
        return self.lowest <= load <= self.highest and (not self.whole or load == int(load))
