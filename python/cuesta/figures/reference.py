"""References to figures: `response{logout}.p95`, what limits and published figures name.

REFERENCE = METRIC ["{" WHOSE "}"] ["." STATISTIC]
WHOSE     = TRANSACTION | GROUP | GROUP ": " TRANSACTION | HOST
METRIC    = one of DURATIONS, with a STATISTIC
          | any other figure of the catalogue, by its name or its alias
          | form.KEY                         part d of a certification's form, a duration
STATISTIC = count censored min mean max p50 p90 p95 p99 p99.9 … any pNN[.N]

Only OF_CLASSES may be of one class of transactions; these and all DURATIONS may be of one group. If a group and a class
have one name, it means the class. OF_HOSTS are of the first host that is metered, or of the one in braces, which may
follow any part: `host{farm}.cpu.usr`.
"""

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cuesta import _native
from cuesta.figures.about import Unit
from cuesta.figures.catalogue import BY_NAME, CATALOGUE, DURATIONS, list_fields
from cuesta.figures.durations import Distribution, TransactionClass

NUMBERS = {name: figure for name, figure in BY_NAME.items() if figure.name.rpartition(".")[0] not in DURATIONS}
"""Figures that are no statistic of a distribution, by name and by alias."""
OF_CLASSES = (
    *(name for name, kind, _ in list_fields(TransactionClass) if kind is Distribution),
    *("throughput", "transactions.count", "transactions.per_s"),
)
"""Metrics that a class of transactions has too."""
OF_HOSTS = tuple(name for name, figure in NUMBERS.items() if figure.path[0] == "host" and figure.path[1] != "builtin")
"""Figures that each host has where several are metered."""
FORM = tuple(
    f"form.{key}"
    for key in (
        *("completion", "creation", "creation_real", "creation_whole", "command", "command_real"),
        *("creation_non_fault", "command_non_fault", "elapsed"),
    )
)
"""Seconds in part d of a certification's form, by the ids of its rows: no single run gives them (docs/certify.md)."""
SHAPE = r"([a-z_.]+?)(?:\{([^{}]+)\})?(?:\.([a-z0-9_.]+))?"
"""A reference: metric, transaction and statistic; the metric's own dots may stand in either of its parts."""
COUNTS = ("count", "censored")
"""Statistics of a distribution that are no durations."""
_STATISTIC = re.compile(r"count|censored|min|mean|max|p\d{1,2}(\.\d+)?|p100")
_STATISTICS = "count, censored, min, mean, max, p50, p99, p99.9, …"
_MEANT = {"median": "p50", "avg": "mean", "average": "mean", "minimum": "min", "maximum": "max"}
"""Other tools' words for statistics."""
_AT_MOST_ONE = ("errors.rate", "fairness.jain")
"""Shares that cannot be more than 100 %; CPU of several cores can."""
_COMMON = ("throughput", "errors.rate", "errors.count", "host.cpu.usr")


@dataclass(frozen=True, slots=True)
class Reference:
    """One number of those that a run, or a certification, gives."""

    metric: str
    """One of DURATIONS, NUMBERS or FORM."""
    transaction: str | None
    """Only this class of transactions, only this group, or this host; None means all, or the first host."""
    statistic: str | None
    """`p99`, `mean`, …; None for NUMBERS and FORM."""

    @staticmethod
    def read(text: object) -> "Reference":
        """Parse `text`; raises ValueError with what is wrong and what would do."""
        if not isinstance(text, str) or not (match := re.fullmatch(SHAPE, text.strip())):
            raise ValueError("write METRIC.STATISTIC")
        return Reference.from_parts(*match.groups())

    @staticmethod
    def from_parts(metric: str, transaction: str | None, statistic: str | None) -> "Reference":
        """Put the parts of SHAPE together; raises ValueError like `read`."""
        whole = ".".join(filter(None, (metric, statistic)))
        if metric not in DURATIONS or whole in NUMBERS:
            metric, statistic = whole, None
        _check(metric, transaction, statistic)
        return Reference(metric, transaction, statistic)

    @property
    def host(self) -> str | None:
        """The name in braces, if it is of a host."""
        return self.transaction if self.metric in OF_HOSTS else None

    def selectable(self, groups: Mapping[str, Collection[str]], hosts: Sequence[str] = ()) -> list[str]:
        """What may stand in its braces, in a plan whose `groups` each have a tape with these transactions."""
        if self.metric in OF_HOSTS:
            return list(hosts)
        if self.metric not in OF_CLASSES:
            return list(groups)
        pairs = [(group, transaction) for group, names in groups.items() for transaction in names]
        return [*dict.fromkeys(name for _, name in pairs), *groups, *(f"{group}: {name}" for group, name in pairs)]

    @property
    def unit(self) -> Unit:
        if self.metric in NUMBERS:
            return NUMBERS[self.metric].unit
        return Unit.COUNT if self.statistic in COUNTS else Unit.SECONDS

    @property
    def is_duration(self) -> bool:
        return self.unit == Unit.SECONDS

    @property
    def is_of_form(self) -> bool:
        """Whether only a certification gives it."""
        return self.metric in FORM

    def read_value(self, text: str) -> float:
        """Read a value in the unit of this figure; raises ValueError with what is wrong."""
        if self.unit == Unit.SECONDS:
            return _seconds(text)
        if self.unit == Unit.MILLISECONDS and text.endswith("s"):
            return 1e3 * _seconds(text)
        number, divisor = text, 1
        if self.unit in {Unit.SHARE, Unit.PERCENT} and text.endswith("%"):
            number, divisor = text[:-1], 100 if self.unit == Unit.SHARE else 1
        try:
            value = float(number.removesuffix("/s")) / divisor
        except ValueError:
            raise ValueError(f"`{text}` is not a number") from None
        if self.metric in _AT_MOST_ONE and value > 1:
            hint = "it is at most 100%" if number != text else f"write {text}%, or {float(number) / 100:g}"
            raise ValueError(f"`{self.metric}` is a share, and `{text}` is {value:.0%}; {hint}")
        return value

    def __str__(self) -> str:
        which = f"{{{self.transaction}}}" if self.transaction else ""
        if self.host and self.metric.startswith("host."):
            return f"host{which}.{self.metric.removeprefix('host.')}"
        return f"{self.metric}{which}" + (f".{self.statistic}" if self.statistic else "")


def selects(whose: str | None, group: str, source: str, sources: Collection[str]) -> bool:
    """Whether the name in braces, `whose`, selects the values of a group and a source.

    A source is a class of transactions, or `keys` and the like; `sources` are all that the metric has.
    """
    if whose is None or whose == f"{group}: {source}":
        return True
    return whose == (source if whose in sources else group)


def _seconds(text: str) -> float:
    if text.replace(".", "").isdigit():
        raise ValueError(f"`{text}` has no unit; write for example {text}s or {text}ms")
    return _native.duration(text) / 1e9


def _correct_statistic(statistic: str | None) -> str | None:
    """The statistic that another tool's word stands for: `p999` is `p99.9`."""
    digits = re.fullmatch(r"p(\d\d)\.?(\d+)", statistic or "")
    return f"p{digits[1]}.{digits[2]}" if digits else _MEANT.get(statistic or "")


def _check(metric: str, transaction: str | None, statistic: str | None) -> None:
    if metric in DURATIONS:
        if statistic is None or not _STATISTIC.fullmatch(statistic):
            hint = f"did you mean `{metric}.{meant}`?" if (meant := _correct_statistic(statistic)) else _STATISTICS
            raise ValueError(f"`{metric}` needs a statistic: {hint}")
    elif metric not in NUMBERS and metric not in FORM:
        near = difflib.get_close_matches(metric, [*DURATIONS, *NUMBERS, *CATALOGUE, *FORM], n=1)
        common = ", ".join((*DURATIONS, *_COMMON))
        hint = f"did you mean `{near[0]}`?" if near else f"metrics: {common}, … (docs/summary.md has all)"
        raise ValueError(f"`{metric}` is not a metric; {hint}")
    if transaction and metric not in {*OF_CLASSES, *DURATIONS, *OF_HOSTS}:
        what = f"`{metric}` is measured neither by class of transactions nor by group or host"
        raise ValueError(f"{what}; write it without {{{transaction}}} (by class: {', '.join(OF_CLASSES)})")
