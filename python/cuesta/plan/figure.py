"""Figures: `response{logout}.p95`, what limits and published figures speak of. Parsed here; taken by the analysis.

FIGURE    = METRIC ["{" TRANSACTION "}"] ["." STATISTIC]
METRIC    = response, response_from_sent, first_response, echo, lateness,
            connect, negotiation, login                                    a STATISTIC of them, a duration
          | errors.rate                                                    share of transactions, `1%`
          | errors.count, skipped, transactions.count                      numbers
          | throughput, characters.in_per_s, characters.out_per_s          a second
          | characters.in_per_s_per_user                                   a second and user at work
          | form.KEY                                                       part d of a certification's form, a duration
STATISTIC = count min mean max p50 p90 p95 p99 p99.9 … any pNN[.N]
"""

import difflib
import re
from dataclasses import dataclass

from cuesta import _native

TIMES = ("response", "response_from_sent", "first_response", "echo", "lateness", "connect", "negotiation", "login")
NUMBERS = (
    "throughput",
    "transactions.count",
    "errors.rate",
    "errors.count",
    "skipped",
    "characters.in_per_s",
    "characters.in_per_s_per_user",
    "characters.out_per_s",
)
FORM = tuple(
    f"form.{key}"
    for key in (
        *("completion", "creation", "creation_real", "creation_whole", "command", "command_real"),
        *("creation_non_fault", "command_non_fault", "elapsed"),
    )
)
"""Seconds in part d of a certification's form, by the keys of its rows: no single run gives them (docs/certify.md)."""
SHAPE = r"([a-z_.]+?)(?:\{([^{}]+)\})?(?:\.([a-z0-9.]+))?"
"""What a figure looks like: metric, transaction and statistic, the metric's own dots in either of its parts."""
_STATISTIC = re.compile(r"count|min|mean|max|p\d{1,2}(\.\d+)?|p100")


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of those that a run gives."""

    metric: str
    """One of TIMES, NUMBERS or FORM."""
    transaction: str | None
    """Only this class of transaction; None means all."""
    statistic: str | None
    """`p99`, `mean`, …; None for NUMBERS and FORM."""

    @staticmethod
    def read(text: object) -> "Figure":
        """Parse `text`; raises ValueError with what is wrong and what would do."""
        if not isinstance(text, str) or not (match := re.fullmatch(SHAPE, text.strip())):
            raise ValueError("write METRIC.STATISTIC")
        return Figure.of(*match.groups())

    @staticmethod
    def of(metric: str, transaction: str | None, statistic: str | None) -> "Figure":
        """Put the parts of SHAPE together; raises ValueError like `read`."""
        if metric not in TIMES:
            metric, statistic = ".".join(filter(None, (metric, statistic))), None
        _known(metric, statistic)
        return Figure(metric, transaction, statistic)

    @property
    def is_duration(self) -> bool:
        """Say whether its value is seconds."""
        return self.is_of_form or self.statistic not in (None, "count")

    @property
    def is_of_form(self) -> bool:
        """Say whether only a certification gives it."""
        return self.metric in FORM

    def value(self, text: str) -> float:
        """Read a value of this figure: seconds, a share, or a number; raises ValueError with what is wrong."""
        if self.is_duration:
            if text.replace(".", "").isdigit():
                raise ValueError(f"`{text}` has no unit; write for example {text}s or {text}ms")
            return _native.duration(text) / 1e9
        number, divisor = (text[:-1], 100) if self.metric == "errors.rate" and text.endswith("%") else (text, 1)
        try:
            return float(number.removesuffix("/s")) / divisor
        except ValueError:
            raise ValueError(f"`{text}` is no number") from None

    def __str__(self) -> str:
        which = f"{{{self.transaction}}}" if self.transaction else ""
        return f"{self.metric}{which}" + (f".{self.statistic}" if self.statistic else "")


def _known(metric: str, statistic: str | None) -> None:
    if metric in TIMES:
        if statistic is None or not _STATISTIC.fullmatch(statistic):
            raise ValueError(f"`{metric}` needs a statistic: count, min, mean, max, p50, p99, p99.9, …")
    elif metric not in NUMBERS + FORM:
        near = difflib.get_close_matches(metric, TIMES + NUMBERS + FORM, n=1)
        hint = f"did you mean `{near[0]}`?" if near else "metrics: " + ", ".join(TIMES + NUMBERS)
        raise ValueError(f"`{metric}` is no metric; {hint}")
