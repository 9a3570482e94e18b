"""Limits: `response{logout}.p95 < 1s`. Parsed here; evaluated by the analysis.

LIMIT   = METRIC ["{" TRANSACTION "}"] ["." STATISTIC] COMPARISON VALUE
METRIC  = response, response_from_sent, first_response, echo, lateness   a STATISTIC of them, a duration
        | errors.rate                                                    share of transactions, `1%`
        | errors.count, skipped, transactions.count                      numbers
        | throughput, characters.in_per_s, characters.out_per_s          a second
STATISTIC = count min mean max p50 p90 p95 p99 p99.9 … any pNN[.N]
"""

import difflib
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from cuesta import _native

TIMES = ("response", "response_from_sent", "first_response", "echo", "lateness")
NUMBERS = (
    "throughput",
    "transactions.count",
    "errors.rate",
    "errors.count",
    "skipped",
    "characters.in_per_s",
    "characters.out_per_s",
)
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_STATISTIC = re.compile(r"count|min|mean|max|p\d{1,2}(\.\d+)?|p100")
_SHAPE = re.compile(r"([a-z_.]+?)(?:\{([^{}]+)\})?(?:\.([a-z0-9.]+))?\s*(<=|>=|==|!=|<|>)\s*(\S+)")


@dataclass(frozen=True, slots=True)
class Limit:
    """One condition that a good run meets."""

    text: str
    """As it was written."""
    metric: str
    """One of TIMES or NUMBERS."""
    transaction: str | None
    """Only this class of transaction; None means all."""
    statistic: str | None
    """`p99`, `mean`, …; None for NUMBERS."""
    comparison: str
    """A key of COMPARISONS."""
    value: float
    """Seconds, a share, or a number, as the metric has it."""

    @staticmethod
    def read(text: object) -> "Limit":
        """Parse `text`; raises ValueError with what is wrong and what would do."""
        if not isinstance(text, str) or not (match := _SHAPE.fullmatch(text.strip())):
            raise ValueError("write METRIC.STATISTIC < VALUE")
        metric, transaction, statistic, comparison, value = match.groups()
        if metric not in TIMES:
            metric, statistic = ".".join(filter(None, (metric, statistic))), None
        _known(metric, statistic)
        return Limit(text.strip(), metric, transaction, statistic, comparison, _value(metric, statistic, value))

    def holds(self, value: float) -> bool:
        """Say whether `value` keeps the limit."""
        return COMPARISONS[self.comparison](value, self.value)

    def __str__(self) -> str:
        return self.text


def _known(metric: str, statistic: str | None) -> None:
    if metric in TIMES:
        if statistic is None or not _STATISTIC.fullmatch(statistic):
            raise ValueError(f"`{metric}` needs a statistic: count, min, mean, max, p50, p99, p99.9, …")
    elif metric not in NUMBERS:
        near = difflib.get_close_matches(metric, TIMES + NUMBERS, n=1)
        hint = f"did you mean `{near[0]}`?" if near else "metrics: " + ", ".join(TIMES + NUMBERS)
        raise ValueError(f"`{metric}` is no metric; {hint}")


def _value(metric: str, statistic: str | None, text: str) -> float:
    if metric in TIMES and statistic != "count":
        if text.replace(".", "").isdigit():
            raise ValueError(f"`{text}` has no unit; write for example {text}s or {text}ms")
        return _native.duration(text) / 1e9
    number, divisor = (text[:-1], 100) if metric == "errors.rate" and text.endswith("%") else (text, 1)
    try:
        return float(number.removesuffix("/s")) / divisor
    except ValueError:
        raise ValueError(f"`{text}` is no number") from None
