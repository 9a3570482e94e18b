"""The durations of a load step, as distributions: of responses, of echoes, and of the driver's own delays.

Seconds. None is a figure that was not measured; it is never written as zero.
"""

from dataclasses import dataclass, field
from typing import Annotated

from cuesta.figures.about import About, Better, Unit


@dataclass(frozen=True, slots=True)
class Distribution:
    """Durations in seconds. All but the counts are None where nothing was recorded.

    What was asked and not answered is censored: it took at least as long as it was waited for, and all figures but
    `count`, `min` and `longest` count it so (docs/summary.md).
    """

    count: Annotated[int, About("{}: the number of values", Unit.COUNT, "{}, values", Better.MORE)] = 0
    censored: Annotated[
        int,
        About(
            "{}: the number of those that were not answered: given up, lost, or under way when measuring ended",
            Unit.COUNT,
            "{}, censored",
            Better.LESS,
        ),
    ] = 0
    min: Annotated[float | None, About("{}: the smallest value", Unit.SECONDS, "least {}")] = None
    mean: Annotated[float | None, About("{}: the mean", Unit.SECONDS, "mean {}")] = None
    p50: Annotated[float | None, About("{}: the median: half of the values are at most this", Unit.SECONDS)] = None
    p90: Annotated[float | None, About("{}: 90 % of the values are at most this", Unit.SECONDS)] = None
    p95: Annotated[float | None, About("{}: 95 % of the values are at most this", Unit.SECONDS)] = None
    p99: Annotated[float | None, About("{}: 99 % of the values are at most this", Unit.SECONDS)] = None
    p999: Annotated[float | None, About("{}: 99.9 % of the values are at most this", Unit.SECONDS, "{} p99.9")] = None
    max: Annotated[float | None, About("{}: the largest value", Unit.SECONDS, "greatest {}")] = None
    longest: Annotated[
        float | None, About("{}: the longest that ended, with or without an answer", Unit.SECONDS, "longest {}")
    ] = None
    at_least: Annotated[
        list[str],
        About("which of these figures are lower bounds: the figure is at least so large, and not known"),
    ] = field(default_factory=list)

    @property
    def asked(self) -> int:
        """The number of values, with those that are censored."""
        return self.count + self.censored


RESPONSE = About("From the due time of a transaction's last key to its complete answer", None, "response", Better.LESS)
RESPONSE_FROM_SENT = About(
    "From when a transaction's last key was sent to its complete answer", None, "response since sent", Better.LESS
)
FIRST_RESPONSE = About(
    "From the due time of a transaction's last key to the first sign of its answer", None, "first response", Better.LESS
)
ECHO = About("From the due time of a key to its echo", None, "echo", Better.LESS)
ECHO_FROM_SENT = About("From when a key was sent to its echo", None, "echo since sent", Better.LESS)
LATENESS = About(
    "From when a key could be sent (due, user ready, line free) to when it was sent: the delay of the driver",
    None,
    "driver delay",
    Better.LESS,
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of answers in characters, of waits that end with the answer (not `Wait+Screen`, `+Line`, `+Cursor`).

    All but the count are None where nothing was recorded.
    """

    count: Annotated[int, About("{}: the number of answers", Unit.COUNT, "{}, answers")] = 0
    min: Annotated[float | None, About("{}: the shortest answer", Unit.COUNT, "least {}")] = None
    mean: Annotated[float | None, About("{}: the mean", Unit.COUNT, "mean {}")] = None
    p5: Annotated[float | None, About("{}: 5 % of the answers are at most so long", Unit.COUNT)] = None
    p50: Annotated[float | None, About("{}: the median", Unit.COUNT)] = None
    p95: Annotated[float | None, About("{}: 95 % of the answers are at most so long", Unit.COUNT)] = None
    max: Annotated[float | None, About("{}: the longest answer", Unit.COUNT, "greatest {}")] = None


@dataclass(frozen=True, slots=True)
class TransactionClass:
    """One class of transactions, of one group of users."""

    group: Annotated[str, About("the group of users")]
    transaction: Annotated[str, About("the name of the transaction in the tape")]
    response: Annotated[Distribution, RESPONSE]
    response_from_sent: Annotated[Distribution, RESPONSE_FROM_SENT]
    first_response: Annotated[Distribution, FIRST_RESPONSE]
    characters: Annotated[Sizes, About("Characters of an answer without echoes", None, "characters of an answer")]

    @property
    def label(self) -> str:
        return class_label(self.group, self.transaction)


def class_label(group: str, transaction: str) -> str:
    """The name of a class of transactions: only the group's, if the transaction has the same name."""
    return group if group == transaction else f"{group}: {transaction}"


@dataclass(frozen=True, slots=True)
class KeyTimes:
    """The keys of one group of users."""

    group: Annotated[str, About("the group of users")]
    echo: Annotated[Distribution, ECHO]
    echo_from_sent: Annotated[Distribution, ECHO_FROM_SENT]
    lateness: Annotated[Distribution, LATENESS]


@dataclass(frozen=True, slots=True)
class Inflation:
    """By how much the driver's own part lengthens a response."""

    p50: Annotated[float, About("{}: difference of the medians", Unit.SECONDS, "{} p50")]
    p99: Annotated[float, About("{}: difference of the 99th percentiles", Unit.SECONDS, "{} p99")]


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """From the last key to the first sign of an answer, by the kernel's stamps and by the driver's."""

    kernel_response: Annotated[
        Distribution,
        About("By the kernel's stamps, from packet sent to packet received", None, "response by the kernel"),
    ]
    user_response: Annotated[
        Distribution, About("By the driver's clock, for the same transactions", None, "response by the driver")
    ]
    inflation: Annotated[Inflation, About("What the driver itself adds to every response", None, "added by the driver")]
