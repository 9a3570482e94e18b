"""The figures of one load step, each declared once: the fields of the `--json` object are these fields.

Durations are seconds. None is a figure that was not measured; it is never written as zero. What derives them from the
records is `cuesta.analysis`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

from cuesta._native import Histogram
from cuesta.figures.about import About, Better, Unit
from cuesta.figures.host import HostFigures


@dataclass(frozen=True, slots=True)
class Distribution:
    """Durations in seconds. All but the count are None where nothing was recorded."""

    count: Annotated[int, About("{}: the number of values", Unit.COUNT, "{}, values", Better.MORE)] = 0
    min: Annotated[float | None, About("{}: the smallest value", Unit.SECONDS, "least {}")] = None
    mean: Annotated[float | None, About("{}: the mean", Unit.SECONDS, "mean {}")] = None
    p50: Annotated[float | None, About("{}: the median: half of the values are at most this", Unit.SECONDS)] = None
    p90: Annotated[float | None, About("{}: 90 % of the values are at most this", Unit.SECONDS)] = None
    p95: Annotated[float | None, About("{}: 95 % of the values are at most this", Unit.SECONDS)] = None
    p99: Annotated[float | None, About("{}: 99 % of the values are at most this", Unit.SECONDS)] = None
    p999: Annotated[float | None, About("{}: 99.9 % of the values are at most this", Unit.SECONDS, "{} p99.9")] = None
    max: Annotated[float | None, About("{}: the largest value", Unit.SECONDS, "greatest {}")] = None

    @classmethod
    def of(cls, histogram: Histogram | None) -> Self:
        if histogram is None or not histogram.count:
            return cls()
        p50, p90, p95, p99, p999 = (histogram.quantile(q) for q in (0.5, 0.9, 0.95, 0.99, 0.999))
        return cls(histogram.count, histogram.min, histogram.mean, p50, p90, p95, p99, p999, histogram.max)


@dataclass(frozen=True, slots=True)
class Transactions:
    """Transactions that ended, counted."""

    count: Annotated[int, About("transactions that ended", Unit.COUNT, "transactions", column="transactions")]
    per_s: Annotated[
        float | None,
        About("transactions that ended, per second", Unit.PER_SECOND, "transactions/s", alias="throughput"),
    ]


@dataclass(frozen=True, slots=True)
class Keystrokes:
    """Keys that were sent, counted."""

    count: Annotated[int, About("keys that were sent", Unit.COUNT, "keys", column="keystrokes")]
    per_s: Annotated[
        float | None, About("keys that were sent, per second", Unit.PER_SECOND, "keys/s", alias="keystrokes")
    ]


@dataclass(frozen=True, slots=True)
class Errors:
    """Failures of the host and of lines."""

    count: Annotated[int, About("failures of the host and of lines", Unit.COUNT, "errors", column="errors")]
    by_name: Annotated[Mapping[str, int], About("the number of failures by name")]
    before: Annotated[
        Mapping[str, int], About("failures during ramp-up and settling, by name; no other figure includes them")
    ]
    said: Annotated[
        Mapping[str, str],
        About("details of the first failure of each name: why a line could not be opened, how its program ended"),
    ]
    rate: Annotated[float | None, About("errors / (errors + transactions)", Unit.SHARE, "error rate")] = None


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Transactions under way when measuring ended. No distribution has them."""

    count: Annotated[int, About("transactions under way when measuring ended", Unit.COUNT, "unfinished transactions")]
    oldest: Annotated[float, About("time since the due time of the oldest of them", Unit.SECONDS, "oldest unfinished")]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Who waited for the host when measuring ended."""

    answers: Annotated[int, About("users whose transaction was under way", Unit.COUNT, "users waiting for an answer")]
    prompts: Annotated[
        int,
        About("users who waited for a prompt before they had typed anything", Unit.COUNT, "users waiting for a prompt"),
    ]
    echoes: Annotated[int, About("users with keys that were not echoed yet", Unit.COUNT, "users waiting for an echo")]
    keys: Annotated[int, About("keys that were not echoed yet", Unit.COUNT, "keys waiting for their echo")]
    oldest: Annotated[float, About("the longest time that a user had waited", Unit.SECONDS, "longest wait at the end")]


@dataclass(frozen=True, slots=True)
class DueAccount:
    """What became of the passes or sessions of an open load that were due in the measurement interval."""

    count: Annotated[int, About("passes or sessions that were due", Unit.COUNT, "due by the load")]
    done: Annotated[int, About("due ones that ended", Unit.COUNT, "due and done")]
    failed: Annotated[int, About("part of `done`: given up, or without a line", Unit.COUNT, "due and failed")]
    under_way: Annotated[
        int, About("due ones that a user was playing when measuring ended", Unit.COUNT, "due, under way")
    ]
    waiting: Annotated[
        int, About("due ones that waited for a free user when measuring ended", Unit.COUNT, "due, waiting for a user")
    ]
    skipped: Annotated[int, About("due ones that were skipped because too many waited", Unit.COUNT, "due and skipped")]
    adds_up: Annotated[
        bool, About("whether done, under way, waiting and skipped add up to `count`; each is counted where it happens")
    ]

    @property
    def accounted(self) -> int:
        return self.done + self.under_way + self.waiting + self.skipped

    @property
    def never_begun(self) -> int:
        return self.waiting + self.skipped


@dataclass(frozen=True, slots=True)
class Characters:
    """Characters a second: typed and shown (in, out), and what crossed the lines for it."""

    in_per_s: Annotated[float | None, About("characters typed per second", Unit.PER_SECOND, "characters typed/s")]
    in_per_s_per_user: Annotated[
        float | None,
        About(
            "characters typed per second, divided by the mean number of users at work",
            Unit.PER_SECOND,
            "characters typed/s and user",
        ),
    ]
    out_per_s: Annotated[float | None, About("characters shown per second", Unit.PER_SECOND, "characters shown/s")]
    line_in_per_s: Annotated[
        float | None,
        About(
            "bytes per second that lines carried to the host, with negotiation", Unit.PER_SECOND, "bytes to the host/s"
        ),
    ]
    line_out_per_s: Annotated[
        float | None,
        About(
            "bytes per second that lines carried from the host, with negotiation and escapes",
            Unit.PER_SECOND,
            "bytes from the host/s",
        ),
    ]


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
class TransactionClass:
    """One class of transactions, of one group of users."""

    group: Annotated[str, About("the group of users")]
    transaction: Annotated[str, About("the name of the transaction in the tape")]
    response: Annotated[Distribution, RESPONSE]
    response_from_sent: Annotated[Distribution, RESPONSE_FROM_SENT]
    first_response: Annotated[Distribution, FIRST_RESPONSE]


@dataclass(frozen=True, slots=True)
class KeyTimes:
    """The keys of one group of users."""

    group: Annotated[str, About("the group of users")]
    echo: Annotated[Distribution, ECHO]
    echo_from_sent: Annotated[Distribution, ECHO_FROM_SENT]
    lateness: Annotated[Distribution, LATENESS]


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """What became of the transactions of one group of users."""

    group: Annotated[str, About("the group of users")]
    users: Annotated[int, About("users of the group", Unit.COUNT)]
    transactions: Annotated[int, About("transactions of the group that ended", Unit.COUNT)]
    unanswered: Annotated[
        int,
        About(
            "transactions of the group that were given up, or stuck at the end; in a group without any "
            "transaction or echo also its users who never saw a prompt",
            Unit.COUNT,
        ),
    ]


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


@dataclass(frozen=True, slots=True)
class Fairness:
    """How the users' mean responses since due compare."""

    users: Annotated[int, About("users with at least one transaction", Unit.COUNT, "users served")]
    jain: Annotated[
        float,
        About(
            "Jain's index of fairness: 1 when all users are served alike, 1/n when one gets everything",
            Unit.SHARE,
            "Jain's index",
            Better.MORE,
        ),
    ]
    worst_group: Annotated[str, About("the group of the user with the longest mean response")]
    worst_user: Annotated[int, About("the number of that user")]
    worst_mean: Annotated[float, About("that user's mean response", Unit.SECONDS, "slowest user's mean", Better.LESS)]
    median: Annotated[float, About("the median of the users' means", Unit.SECONDS, "median user's mean", Better.LESS)]


@dataclass(frozen=True, slots=True)
class ResponseLaw:
    """The terms of the interactive response-time law R = N/X − Z − K, and how far it is off."""

    n: Annotated[float, About("N: mean number of users at work", Unit.COUNT, "N, users at work")]
    x: Annotated[float, About("X: transactions counted per second", Unit.PER_SECOND, "X, transactions/s")]
    z: Annotated[float, About("Z: time spent thinking per transaction", Unit.SECONDS, "Z, thinking")]
    k: Annotated[float, About("K: time spent keying per transaction", Unit.SECONDS, "K, keying")]
    r_predicted: Annotated[float, About("N/X − Z − K", Unit.SECONDS, "response by the law", column="law_predicted")]
    r_measured: Annotated[float, About("mean response since sent", Unit.SECONDS, "response measured")]
    error: Annotated[
        float,
        About(
            "(predicted − measured) as a share of N/X, the whole cycle",
            Unit.SHARE,
            "gap between counts and law",
            Better.LESS,
        ),
    ]
    chance: Annotated[
        float,
        About(
            "the gap to expect because transactions cross the edges of the interval, one standard deviation", Unit.SHARE
        ),
    ]


@dataclass(frozen=True, slots=True)
class ScreenCost:
    """What the users' screens cost the driver."""

    count: Annotated[int, About("number of screens", Unit.COUNT, "screens")]
    bytes_each: Annotated[
        float, About("memory of one screen, computed from its size", Unit.BYTES, "memory of a screen")
    ]
    drawing: Annotated[
        float,
        About("seconds per second and thread spent drawing on screens, sampled", Unit.SHARE, "drawing on screens"),
    ]


@dataclass(frozen=True, slots=True)
class DriverLoad:
    """The driver's own consumption: that of its busiest agent."""

    cpu: Annotated[
        float,
        About("seconds of CPU per second and thread: a share of one core", Unit.SHARE, "driver CPU", Better.LESS),
    ]
    run_wait: Annotated[
        float,
        About(
            "seconds per second and thread in which a thread was ready to run and had no CPU",
            Unit.SHARE,
            "driver waiting for a CPU",
            Better.LESS,
        ),
    ]
    threads: Annotated[int, About("threads of all agents", Unit.COUNT, "driver threads")]
    rss_per_user: Annotated[int | None, About("resident memory / users", Unit.BYTES, "memory per user", Better.LESS)]
    screens: Annotated[ScreenCost | None, About("None where no user looked at one")]


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """One agent; a biased one differs from the others."""

    agent: Annotated[int, About("the number of the agent")]
    response: Annotated[Distribution, RESPONSE]
    lateness: Annotated[Distribution, LATENESS]
    cpu: Annotated[float, About("seconds of CPU per second and thread", Unit.SHARE)]
    run_wait: Annotated[
        float, About("seconds per second and thread in which a thread was ready to run and had no CPU", Unit.SHARE)
    ]


@dataclass(frozen=True, slots=True)
class LevelShift:
    """A level that did not hold."""

    before: Annotated[float, About("the level before")]
    after: Annotated[float, About("the level after")]
    at: Annotated[float, About("where it changed, as a share of the series", Unit.SHARE)]


@dataclass(frozen=True, slots=True)
class Settling:
    """Whether the host had settled when measuring began."""

    wanted: Annotated[
        int | None, About("users that should have been at work; None where sessions come and go", Unit.COUNT)
    ]
    connected: Annotated[int, About("users that were at work", Unit.COUNT, "users connected")]
    throughput: Annotated[LevelShift | None, About("how the level of throughput changed, if it did")]
    response: Annotated[LevelShift | None, About("how the level of response changed, if it did")]


@dataclass(frozen=True, slots=True)
class LimitResult:
    """One limit and whether it was kept."""

    limit: Annotated[str, About("the limit as written")]
    value: Annotated[
        float | None, About("what was measured; None if there was nothing to measure, and then it was not kept")
    ]
    ok: Annotated[bool, About("whether it was kept")]
    is_duration: Annotated[bool, About("whether `value` is seconds")]
    step: Annotated[int, About("the step that was checked, counted from 0 (texts count from 1)")]


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """One published figure and what was measured."""

    what: Annotated[str, About("what was measured, and under which conditions")]
    figure: Annotated[str, About("as in limits: `characters.in_per_s_per_user`, `response.mean`")]
    users: Annotated[int | None, About("the number of users in the published measurement; None means any")]
    published: Annotated[float, About("the published value: seconds where `is_duration`, else a number")]
    bound: Annotated[str | None, About("`at least` or `at most`, if only a bound was published")]
    source: Annotated[str, About("where it was published")]
    step: Annotated[
        int | None,
        About(
            "the step that was measured, counted from 0 (texts count from 1); "
            "None if there was none with that number of users"
        ),
    ]
    measured: Annotated[
        float | None, About("the measured value in the unit of `published`; None if there was nothing to measure")
    ]
    ratio: Annotated[float | None, About("measured / published")]
    is_duration: Annotated[bool, About("whether the values are seconds")]


@dataclass(frozen=True, slots=True)
class StepFigures:
    """One load step: what its measurement interval gave."""

    step: Annotated[int, About("number of the step, counted from 0 (texts count from 1)")]
    swept: Annotated[Mapping[str, object], About("the settings that the sweep changes, and their values")]
    users: Annotated[int, About("users planned", Unit.COUNT, "users")]
    load: Annotated[str, About("kind of load: `closed`, `paced:…` or `open:…`")]
    seconds: Annotated[float, About("length of the measurement interval, as recorded", Unit.SECONDS, "measured for")]
    planned_seconds: Annotated[float, About("length of the measurement interval, as planned", Unit.SECONDS)]
    transactions: Annotated[Transactions, About("Transactions that ended", better=Better.MORE)]
    keystrokes: Annotated[Keystrokes, About("Keys that were sent", better=Better.MORE)]
    errors: Annotated[Errors, About("Failures of the host and of lines", better=Better.LESS)]
    skipped: Annotated[
        int,
        About(
            "actions that were due and not begun, because too many were under way",
            Unit.COUNT,
            better=Better.LESS,
            counter=True,
        ),
    ]
    due: Annotated[
        DueAccount | None,
        About("What became of the passes or sessions of an open load that were due; None where no load is open"),
    ]
    stray: Annotated[
        int,
        About(
            "characters other than the expected echo, where only an echo could arrive",
            Unit.COUNT,
            "stray characters",
            counter=True,
        ),
    ]
    lost_users: Annotated[int, About("users without a line at the end", Unit.COUNT, "users lost", Better.LESS)]
    lost_for: Annotated[Mapping[str, int], About("users without a line at the end, by the name of the error")]
    unfinished: Annotated[Unfinished, About("Transactions under way when measuring ended", better=Better.LESS)]
    unanswered: Annotated[
        int,
        About(
            "transactions without an answer, because it took too long or the line was lost",
            Unit.COUNT,
            "unanswered transactions",
            Better.LESS,
            counter=True,
        ),
    ]
    silent: Annotated[
        int,
        About(
            "transactions that ended by silence though the host had sent nothing since the last key, not even an echo",
            Unit.COUNT,
            "transactions ended by silence",
            Better.LESS,
            counter=True,
        ),
    ]
    waiting: Annotated[Waiting, About("Who waited for the host when measuring ended", better=Better.LESS)]
    response: Annotated[Distribution, RESPONSE]
    response_from_sent: Annotated[Distribution, RESPONSE_FROM_SENT]
    first_response: Annotated[Distribution, FIRST_RESPONSE]
    echo: Annotated[Distribution, ECHO]
    echo_from_sent: Annotated[Distribution, ECHO_FROM_SENT]
    lateness: Annotated[Distribution, LATENESS]
    connect: Annotated[
        Distribution,
        About(
            "From the planned to the actual opening of a line; for all lines opened in the step, also before measuring",
            None,
            "connecting",
            Better.LESS,
        ),
    ]
    negotiation: Annotated[
        Distribution,
        About(
            "From the open line to the end of negotiation (telnet's options, ssh's keys)",
            None,
            "negotiating",
            Better.LESS,
        ),
    ]
    login: Annotated[
        Distribution, About("From the end of negotiation to the running program", None, "logging in", Better.LESS)
    ]
    groups: Annotated[list[GroupCounts], About("what became of the transactions of each group of users")]
    classes: Annotated[list[TransactionClass], About("durations for each class of transactions")]
    keys: Annotated[list[KeyTimes], About("durations of the keys of each group of users")]
    kernel: Annotated[
        KernelTimes | None,
        About("The first sign of an answer by the kernel's stamps, on lines that it stamps", None, "first response"),
    ]
    fairness: Annotated[Fairness | None, About("How the users' mean responses compare")]
    characters: Annotated[Characters, About("Characters a second", better=Better.MORE)]
    law: Annotated[ResponseLaw | None, About("The response-time law, of closed loads")]
    host: Annotated[HostFigures, About("The system under test, by its meters")]
    driver: Annotated[DriverLoad, About("What driving cost: the busiest agent")]
    agents: Annotated[list[AgentFigures], About("the figures of each agent")]
    settled: Annotated[Settling, About("Whether the host had settled when measuring began")]
    limits: Annotated[list[LimitResult], About("each limit, and whether it was kept")]
    published: Annotated[list[PublishedComparison], About("published figures beside measured ones")]


FAR_OLDER = 3.0
"""A wait is stuck if it is more than this many times as long as the longest response, and over a second longer."""


def is_stuck(waited: float, longest: float) -> bool:
    """Whether the answer to a wait will not come, by the longest response; both in seconds."""
    return waited > FAR_OLDER * longest and waited > longest + 1.0
