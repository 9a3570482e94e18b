"""Limits: `response{logout}.p95 < 1s`. Parsed here; evaluated by the analysis.

LIMIT = REFERENCE COMPARISON VALUE; `reference` has the grammar of references. A blank may precede the value's unit.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from cuesta.figures.reference import SHAPE, Reference

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_SHAPE = re.compile(SHAPE + r"\s*(<=|>=|==|!=|<|>)\s*(\S+(?:\s+[^\s\d]+)?)")


@dataclass(frozen=True, slots=True)
class Limit:
    """One condition that a good run meets."""

    text: str
    """As it was written."""
    figure: Reference
    comparison: str
    """A key of COMPARISONS."""
    value: float
    """Seconds, a share, or a number, as the figure has it."""

    @staticmethod
    def read(text: object) -> "Limit":
        """Parse `text`; raises ValueError with what is wrong and what would do."""
        if not isinstance(text, str) or not (match := _SHAPE.fullmatch(text.strip())):
            raise ValueError("write METRIC.STATISTIC < VALUE")
        metric, transaction, statistic, comparison, value = match.groups()
        figure = Reference.from_parts(metric, transaction, statistic)
        if figure.is_of_form:
            raise ValueError(f"`{metric}` belongs to a certification's form, and a limit applies to a run")
        return Limit(text.strip(), figure, comparison, figure.read_value("".join(value.split())))

    def holds(self, value: float) -> bool:
        return COMPARISONS[self.comparison](value, self.value)

    def __str__(self) -> str:
        return self.text
