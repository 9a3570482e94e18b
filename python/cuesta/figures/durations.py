"""The durations of a load step, as distributions: of responses, of echoes, and of the driver's own delays.

Seconds. None is a figure that was not measured; it is never written as zero.
"""

from cuesta.figures.about import About, Better, Unit, declare, figure_table


@figure_table
class Distribution:
    """Durations in seconds. All but the counts are None where nothing was recorded.

    What was asked and not answered is censored: it took at least as long as it was waited for, and all figures but
    `count`, `min` and `longest` count it so (docs/summary.md).
    """

    count: int = declare("{}: the number of values", Unit.COUNT, "{}, values", Better.MORE, default=0)
    censored: int = declare(
        "{}: the number of those that were not answered: given up, lost, or under way when measuring ended",
        Unit.COUNT,
        "{}, censored",
        Better.LESS,
        default=0,
    )
    min: float | None = declare("{}: the smallest value", Unit.SECONDS, "least {}", default=None)
    mean: float | None = declare("{}: the mean", Unit.SECONDS, "mean {}", default=None)
    p50: float | None = declare("{}: the median: half of the values are at most this", Unit.SECONDS, default=None)
    p90: float | None = declare("{}: 90 % of the values are at most this", Unit.SECONDS, default=None)
    p95: float | None = declare("{}: 95 % of the values are at most this", Unit.SECONDS, default=None)
    p99: float | None = declare("{}: 99 % of the values are at most this", Unit.SECONDS, default=None)
    p999: float | None = declare("{}: 99.9 % of the values are at most this", Unit.SECONDS, "{} p99.9", default=None)
    max: float | None = declare("{}: the largest value", Unit.SECONDS, "greatest {}", default=None)
    longest: float | None = declare(
        "{}: the longest that ended, with or without an answer", Unit.SECONDS, "longest {}", default=None
    )
    at_least: list[str] = declare(
        "which of these figures are lower bounds: the figure is at least so large, and not known", default_factory=list
    )

    @property
    def total(self) -> int:
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
WHOLE_FRAME = About(
    "From the due time of a key to the last byte of the frame that shows it, where the screen times the key",
    None,
    "whole frame",
    Better.LESS,
)
LATENESS = About(
    "From when a key could be sent (due, user ready, line free) to when it was sent: the delay of the driver",
    None,
    "driver delay",
    Better.LESS,
)


@figure_table
class Sizes:
    """Sizes of answers in characters, of waits that end with the answer (not `Wait+Screen`, `+Line`, `+Cursor`).

    All but the count are None where nothing was recorded.
    """

    count: int = declare("{}: the number of answers", Unit.COUNT, "{}, answers", default=0)
    min: float | None = declare("{}: the shortest answer", Unit.COUNT, "least {}", default=None)
    mean: float | None = declare("{}: the mean", Unit.COUNT, "mean {}", default=None)
    p5: float | None = declare("{}: 5 % of the answers are at most so long", Unit.COUNT, default=None)
    p50: float | None = declare("{}: the median", Unit.COUNT, default=None)
    p95: float | None = declare("{}: 95 % of the answers are at most so long", Unit.COUNT, default=None)
    max: float | None = declare("{}: the longest answer", Unit.COUNT, "greatest {}", default=None)


@figure_table
class TransactionClass:
    """One class of transactions, of one group of users."""

    group: str = declare("the group of users")
    transaction: str = declare("the name of the transaction in the tape")
    response: Distribution = declare(RESPONSE)
    response_from_sent: Distribution = declare(RESPONSE_FROM_SENT)
    first_response: Distribution = declare(FIRST_RESPONSE)
    characters: Sizes = declare("Characters of an answer without echoes", None, "characters of an answer")

    @property
    def label(self) -> str:
        return class_label(self.group, self.transaction)


def class_label(group: str, transaction: str) -> str:
    """The name of a class of transactions: only the group's, if the transaction has the same name."""
    return group if group == transaction else f"{group}: {transaction}"


@figure_table
class KeyTimes:
    """The keys of one group of users."""

    group: str = declare("the group of users")
    echo: Distribution = declare(ECHO)
    echo_from_sent: Distribution = declare(ECHO_FROM_SENT)
    whole_frame: Distribution = declare(WHOLE_FRAME)
    lateness: Distribution = declare(LATENESS)


@figure_table
class OpeningParts:
    """The parts of opening lines: of ssh lines, and at last the wait for the first character of any line.

    An opening that failed counts in the part that it had reached, as at least its wait.
    """

    banner: Distribution = declare(
        About("From the open connection to the host's version (ssh)", None, "banner", Better.LESS),
        default=Distribution(),
    )
    key_exchange: Distribution = declare(
        About("From there to the end of the key exchange (ssh)", None, "key exchange", Better.LESS),
        default=Distribution(),
    )
    methods: Distribution = declare(
        About(
            "From there to the host's first answer to a login, which says how users may log in (ssh)",
            None,
            "first answer",
            Better.LESS,
        ),
        default=Distribution(),
    )
    authentication: Distribution = declare(
        About("From there to the user's acceptance (ssh)", None, "authentication", Better.LESS), default=Distribution()
    )
    channel: Distribution = declare(
        About("From there to the open session (ssh)", None, "channel", Better.LESS), default=Distribution()
    )
    pty: Distribution = declare(
        About("From there to the session's terminal (ssh)", None, "terminal", Better.LESS), default=Distribution()
    )
    shell: Distribution = declare(
        About("From there to the running program (ssh)", None, "shell", Better.LESS), default=Distribution()
    )
    first_output: Distribution = declare(
        About("From the open line to the first character", None, "first output", Better.LESS), default=Distribution()
    )


@figure_table
class Inflation:
    """By how much the driver's own part lengthens a response."""

    p50: float = declare("{}: difference of the medians", Unit.SECONDS, "{} p50")
    p99: float = declare("{}: difference of the 99th percentiles", Unit.SECONDS, "{} p99")


@figure_table
class KernelTimes:
    """From the last key to the first sign of an answer, by the kernel's stamps and by the driver's."""

    kernel_response: Distribution = declare(
        "By the kernel's stamps, from packet sent to packet received", None, "response by the kernel"
    )
    user_response: Distribution = declare(
        "By the driver's clock, for the same transactions", None, "response by the driver"
    )
    inflation: Inflation = declare("What the driver itself adds to every response", None, "added by the driver")
