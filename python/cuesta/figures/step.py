"""The figures of one load step, each declared once: the fields of the `--json` object are these fields.

Durations are seconds. None is a figure that was not measured; it is never written as zero. What derives them from the
records is `cuesta.analysis`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from cuesta.figures.about import About, Better, Unit
from cuesta.figures.bisync import BisyncFigures
from cuesta.figures.counts import (
    Characters,
    DueAccount,
    Errors,
    GroupCounts,
    Keystrokes,
    Transactions,
    Unfinished,
    Waiting,
    WaitSample,
)
from cuesta.figures.driver import AgentFigures, DriverLoad
from cuesta.figures.durations import (
    ECHO,
    ECHO_FROM_SENT,
    FIRST_RESPONSE,
    LATENESS,
    RESPONSE,
    RESPONSE_FROM_SENT,
    Distribution,
    KernelTimes,
    KeyTimes,
    TransactionClass,
)
from cuesta.figures.system_under_test import HostFigures
from cuesta.figures.wire import TmuxFigures, WireFigures


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
    uneven: Annotated[
        float,
        About("the gap to expect because more users waited at one edge of the interval than at the other", Unit.SHARE),
    ] = 0.0

    @property
    def expected_gap(self) -> float:
        """One standard deviation of the gap that the edges of the interval make by themselves."""
        return math.hypot(self.chance, self.uneven)


@dataclass(frozen=True, slots=True)
class LevelShift:
    """A level that did not hold."""

    before: Annotated[float, About("the level before; of a drift, at the beginning")]
    after: Annotated[float, About("the level after; of a drift, at the end")]
    at: Annotated[
        float | None,
        About("where it changed, as a share of the series; None if it changed gradually", Unit.SHARE),
    ]


@dataclass(frozen=True, slots=True)
class Overload:
    """An open or paced load above what the host can do: passes of the tape, or sessions."""

    offered_per_s: Annotated[float, About("passes due per second, by the plan", Unit.PER_SECOND, "passes due/s")]
    kept_per_s: Annotated[float, About("passes that ended per second", Unit.PER_SECOND, "passes ended/s")]
    growth_per_s: Annotated[
        float,
        About(
            "by how many passes that are under way or wait the backlog grows per second",
            Unit.PER_SECOND,
            "growth of the backlog/s",
        ),
    ]


@dataclass(frozen=True, slots=True)
class Settling:
    """Whether the host had settled when measuring began, and stayed so."""

    wanted: Annotated[
        int | None, About("users that should have been at work; None where sessions come and go", Unit.COUNT)
    ]
    connected: Annotated[int, About("users that were at work", Unit.COUNT, "users connected")]
    left_over: Annotated[
        int, About("users of the load before who were still at work: a user leaves at the end of its pass", Unit.COUNT)
    ]
    throughput: Annotated[LevelShift | None, About("how the level of throughput changed, if it did")]
    response: Annotated[LevelShift | None, About("how the level of response changed, if it did")]
    overload: Annotated[
        Overload | None,
        About("An open or paced load above what the host can do; None if it kept up", better=Better.LESS),
    ]
    steady: Annotated[
        bool,
        About(
            "false if throughput or response changed its level, or the backlog grew: there is no steady state then, "
            "and percentiles are those of this run alone"
        ),
    ]


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
    at_least: Annotated[
        bool, About("whether `value` is a lower bound: the figure is at least so large, and not known")
    ] = False
    undecided: Annotated[
        str | None,
        About("why it cannot be told whether it was kept; None if it can. Then it is not `ok`", sentence=True),
    ] = None


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
    at_least: Annotated[
        bool, About("whether `measured` is a lower bound: the figure is at least so large, and not known")
    ] = False


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
    undecoded: Annotated[
        int,
        About(
            "received bytes that are no UTF-8, or no character of the set that the target names (`?charset=cp437`)",
            Unit.COUNT,
            "undecoded bytes",
            counter=True,
        ),
    ]
    unfollowed: Annotated[
        int,
        About(
            "timed keys without a figure, because the text to which they belong could not be followed, or it could not "
            "be told which frame shows them",
            Unit.COUNT,
            "unfollowed keys",
            counter=True,
        ),
    ]
    set_aside: Annotated[
        int,
        About(
            "most cells of a user's screen that changed without keys and so count for no echo, where tapes "
            "`Set Echo change`",
            Unit.COUNT,
            "cells set aside",
            counter=True,
        ),
    ]
    lost_users: Annotated[int, About("users without a line at the end", Unit.COUNT, "users lost", Better.LESS)]
    never_at_work: Annotated[
        int,
        About(
            "users who sent no key and met no wait, but gave one up, or at the end waited for a prompt or had no line",
            Unit.COUNT,
            "users never at work",
            Better.LESS,
        ),
    ]
    samples: Annotated[
        Mapping[str, WaitSample],
        About(
            "The first wait or check of each kind that went wrong, by the name of its error; `continued`: output went "
            "on behind its answer; `unfinished`: the longest that went on when measuring ended"
        ),
    ]
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
    continued_long: Annotated[
        int,
        About(
            "transactions behind whose answer output went on for over a quarter of the response time, and over 20 ms",
            Unit.COUNT,
            "transactions that went on",
            Better.LESS,
            counter=True,
        ),
    ]
    continued: Annotated[
        Distribution,
        About(
            "For how long output went on behind the answer, where it did, before the next key, or while the next row "
            "was typed, if it took the cursor to another row; numbers and spinners that change on a screen are none",
            None,
            "output behind the answer",
            Better.LESS,
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
    settled: Annotated[Settling, About("Whether the host had settled when measuring began, and stayed so")]
    limits: Annotated[list[LimitResult], About("each limit, and whether it was kept")]
    published: Annotated[list[PublishedComparison], About("published figures beside measured ones")]

    # What features of one study add (`cuesta.analysis.features`).
    wire: Annotated[
        WireFigures | None,
        About("The network between driver and host, if each has one of its own", better=Better.LESS),
    ] = None
    wire_missing: Annotated[str | None, About("why nothing is known of that network, if it is so")] = None
    tmux: Annotated[TmuxFigures | None, About("TMux between driver and host, if it was used")] = None
    bisync: Annotated[BisyncFigures | None, About("The bisync lines, if there were any")] = None


SINCE_SENT = {"response": "response_from_sent", "echo": "echo_from_sent"}
"""Figures since an open load's arrival, each with the same without its wait for a free user."""
ONLY_SINCE_ARRIVAL = ("first_response", "connect", "skipped", "due.waiting", "due.skipped", "unfinished.oldest")
"""Figures that include the wait for a free user, and are not known without it."""
UNDONE = ("skipped", "lost_users")
"""Figures of what was due and not done: unusual unless 0."""
