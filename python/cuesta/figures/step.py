"""The figures of one load step, each declared once: the fields of the `--json` object are these fields.

Durations are seconds. None is a figure that was not measured; it is never written as zero. What derives them from the
records is `cuesta.analysis`.
"""

import math
from collections.abc import Mapping

from cuesta.figures.about import Better, Unit, declare, figure_table
from cuesta.figures.bisync import BisyncFigures
from cuesta.figures.causes import Cause
from cuesta.figures.counts import (
    Characters,
    DueAccount,
    Errors,
    Frames,
    GroupCounts,
    Keystrokes,
    Transactions,
    Unfinished,
)
from cuesta.figures.driver import AgentFigures, DriverLoad, OddNode
from cuesta.figures.durations import (
    ECHO,
    ECHO_FROM_SENT,
    FIRST_RESPONSE,
    LATENESS,
    RESPONSE,
    RESPONSE_FROM_SENT,
    WHOLE_FRAME,
    Distribution,
    KernelTimes,
    KeyTimes,
    OpeningParts,
    TransactionClass,
)
from cuesta.figures.neighbour import NeighbourFigures
from cuesta.figures.path import FollowedEcho, FollowedResponse, LoginPath
from cuesta.figures.probe import ProbeFigures
from cuesta.figures.stalls import Stalls
from cuesta.figures.system_under_test import HostFigures
from cuesta.figures.wire import TmuxFigures, WireFigures
from cuesta.records.rows import WaitingCounts, WaitSample


@figure_table
class Fairness:
    """How the users' mean responses since due compare."""

    users: int = declare("users with at least one transaction", Unit.COUNT, "users served")
    jain: float = declare(
        "Jain's index of fairness: 1 when all users are served alike, 1/n when one gets everything",
        Unit.SHARE,
        "Jain's index",
        Better.MORE,
    )
    worst_group: str = declare("the group of the user with the longest mean response")
    worst_user: int = declare("the number of that user")
    worst_mean: float = declare("that user's mean response", Unit.SECONDS, "slowest user's mean", Better.LESS)
    median: float = declare("the median of the users' means", Unit.SECONDS, "median user's mean", Better.LESS)


@figure_table
class ResponseLaw:
    """The terms of the interactive response-time law R = N/X − Z − K, and how far it is off."""

    n: float = declare("N: mean number of users at work", Unit.COUNT, "N, users at work")
    x: float = declare("X: transactions counted per second", Unit.PER_SECOND, "X, transactions/s")
    z: float = declare("Z: time spent thinking per transaction", Unit.SECONDS, "Z, thinking")
    k: float = declare("K: time spent keying per transaction", Unit.SECONDS, "K, keying")
    r_predicted: float = declare("N/X − Z − K", Unit.SECONDS, "response by the law", column="law_predicted")
    r_measured: float = declare("mean response since sent", Unit.SECONDS, "response measured")
    error: float = declare(
        "(predicted − measured) as a share of N/X, the whole cycle",
        Unit.SHARE,
        "gap between counts and law",
        Better.LESS,
    )
    chance: float = declare(
        "the gap to expect because transactions cross the edges of the interval, one standard deviation", Unit.SHARE
    )
    uneven: float = declare(
        "the gap to expect because more users waited at one edge of the interval than at the other",
        Unit.SHARE,
        default=0.0,
    )

    @property
    def expected_gap(self) -> float:
        """One standard deviation of the gap that the edges of the interval make by themselves."""
        return math.hypot(self.chance, self.uneven)


@figure_table
class LevelShift:
    """A level that did not hold."""

    before: float = declare("the level before; of a drift, at the beginning")
    after: float = declare("the level after; of a drift, at the end")
    at: float | None = declare("where it changed, as a share of the series; None if it changed gradually", Unit.SHARE)


@figure_table
class Overload:
    """An open or paced load above what the host can do: passes of the tape, or sessions."""

    offered_per_s: float = declare("passes due per second, by the plan", Unit.PER_SECOND, "passes due/s")
    kept_per_s: float = declare("passes that ended per second", Unit.PER_SECOND, "passes ended/s")
    growth_per_s: float = declare(
        "by how many passes that are under way or wait the backlog grows per second",
        Unit.PER_SECOND,
        "growth of the backlog/s",
    )


@figure_table
class Settling:
    """Whether the host had settled when measuring began, and stayed so."""

    wanted: int | None = declare("users that should have been at work; None where sessions come and go", Unit.COUNT)
    connected: int = declare("users that were at work", Unit.COUNT, "users connected")
    left_over: int = declare(
        "users of the load before who were still at work: a user leaves at the end of its pass", Unit.COUNT
    )
    throughput: LevelShift | None = declare("how the level of throughput changed, if it did")
    response: LevelShift | None = declare("how the level of response changed, if it did")
    overload: Overload | None = declare(
        "An open or paced load above what the host can do; None if it kept up", better=Better.LESS
    )
    steady: bool = declare(
        "false if throughput or response changed its level, or the backlog grew: there is no steady state then, "
        "and percentiles are those of this run alone"
    )
    held: float = declare(
        "for how long, from the begin of the step until measuring began, somebody who watched held the start of users",
        Unit.SECONDS,
        "starts held",
        default=0.0,
    )


@figure_table
class LimitResult:
    """One limit and whether it was kept."""

    limit: str = declare("the limit as written")
    value: float | None = declare("what was measured; None if there was nothing to measure, and then it was not kept")
    ok: bool = declare("whether it was kept")
    is_duration: bool = declare("whether `value` is seconds")
    step: int = declare("the step that was checked, counted from 0 (texts count from 1)")
    at_least: bool = declare(
        "whether `value` is a lower bound: the figure is at least so large, and not known", default=False
    )
    undecided: str | None = declare(
        "why it cannot be told whether it was kept; None if it can. Then it is not `ok`", sentence=True, default=None
    )


@figure_table
class PublishedComparison:
    """One published figure and what was measured."""

    what: str = declare("what was measured, and under which conditions")
    figure: str = declare("as in limits: `characters.in_per_s_per_user`, `response.mean`")
    users: int | None = declare("the number of users in the published measurement; None means any")
    published: float = declare("the published value: seconds where `is_duration`, else a number")
    bound: str | None = declare("`at least` or `at most`, if only a bound was published")
    source: str = declare("where it was published")
    step: int | None = declare(
        "the step that was measured, counted from 0 (texts count from 1); "
        "None if there was none with that number of users"
    )
    measured: float | None = declare(
        "the measured value in the unit of `published`; None if there was nothing to measure"
    )
    ratio: float | None = declare("measured / published")
    is_duration: bool = declare("whether the values are seconds")
    at_least: bool = declare(
        "whether `measured` is a lower bound: the figure is at least so large, and not known", default=False
    )


@figure_table
class StepFigures:
    """One load step: what its measurement interval gave."""

    step: int = declare("number of the step, counted from 0 (texts count from 1)")
    swept: Mapping[str, object] = declare("the settings that the sweep changes, and their values")
    asked: str | None = declare(
        "of a step that was added because somebody changed the users while the run went on: what was asked for, "
        "`users +10 at 63.2 s`; None for steps of the plan"
    )
    users: int = declare("users planned", Unit.COUNT, "users")
    background: int = declare(
        "of `users`, those in the background: their keys and transactions are in no figure of all users",
        Unit.COUNT,
        "users in the background",
    )
    load: str = declare("kind of load: `closed`, `paced:…` or `open:…`")
    seconds: float = declare("length of the measurement interval, as recorded", Unit.SECONDS, "measured for")
    planned_seconds: float = declare("length of the measurement interval, as planned", Unit.SECONDS)
    transactions: Transactions = declare("Transactions that ended", better=Better.MORE)
    keystrokes: Keystrokes = declare("Keys that were sent", better=Better.MORE)
    errors: Errors = declare("Failures of the host and of lines", better=Better.LESS)
    skipped: int = declare(
        "actions that were due and not begun, because too many were under way",
        Unit.COUNT,
        better=Better.LESS,
        counter=True,
    )
    due: DueAccount | None = declare(
        "What became of the passes or sessions of an open load that were due; None where no load is open"
    )
    stray: int = declare(
        "characters other than the expected echo, where only an echo could arrive",
        Unit.COUNT,
        "stray characters",
        counter=True,
    )
    undecoded: int = declare(
        "received bytes that are no UTF-8, or no character of the set that the target names (`?charset=cp437`)",
        Unit.COUNT,
        "undecoded bytes",
        counter=True,
    )
    unfollowed: int = declare(
        "timed keys without a figure, because the text to which they belong could not be followed, or it could not "
        "be told which frame shows them",
        Unit.COUNT,
        "unfollowed keys",
        counter=True,
    )
    set_aside: int = declare(
        "most cells of a user's screen that changed without keys and so count for no echo, where tapes "
        "`Set Echo change`",
        Unit.COUNT,
        "cells set aside",
        counter=True,
    )
    lost_users: int = declare("users without a line at the end", Unit.COUNT, "users lost", Better.LESS)
    never_at_work: int = declare(
        "users who sent no key and met no wait, but gave one up, or at the end waited for a prompt or had no line",
        Unit.COUNT,
        "users never at work",
        Better.LESS,
    )
    samples: Mapping[str, WaitSample] = declare(
        "The first wait or check of each kind that went wrong, by the name of its error; `continued`: output went "
        "on behind its answer; `unfinished`: the longest that went on when measuring ended"
    )
    lost_for: Mapping[str, int] = declare("users without a line at the end, by the name of the error")
    unfinished: Unfinished = declare("Transactions under way when measuring ended", better=Better.LESS)
    unanswered: int = declare(
        "transactions without an answer, because it took too long or the line was lost",
        Unit.COUNT,
        "unanswered transactions",
        Better.LESS,
        counter=True,
    )
    silent: int = declare(
        "transactions that ended by silence though the host had sent nothing since the last key, not even an echo",
        Unit.COUNT,
        "transactions ended by silence",
        Better.LESS,
        counter=True,
    )
    continued_long: int = declare(
        "transactions behind whose answer output went on for over a quarter of the response time, and over 20 ms",
        Unit.COUNT,
        "transactions that went on",
        Better.LESS,
        counter=True,
    )
    continued: Distribution = declare(
        "For how long output went on behind the answer, where it did, before the next key, or while the next row "
        "was typed, if it took the cursor to another row; numbers and spinners that change on a screen are none",
        None,
        "output behind the answer",
        Better.LESS,
    )
    waiting: WaitingCounts = declare("Who waited for the host when measuring ended", better=Better.LESS)
    response: FollowedResponse = declare(RESPONSE)
    response_from_sent: Distribution = declare(RESPONSE_FROM_SENT)
    first_response: Distribution = declare(FIRST_RESPONSE)
    echo: FollowedEcho = declare(ECHO)
    echo_from_sent: Distribution = declare(ECHO_FROM_SENT)
    whole_frame: Distribution = declare(WHOLE_FRAME)
    frames: Frames | None = declare(
        "The frames that showed keys; None where no key is timed by a screen", better=Better.LESS
    )
    stalls: Stalls | None = declare(
        "Stretches in which keys of several users waited and none was echoed; None without a log of keys (`log_keys`)",
        better=Better.LESS,
    )
    lateness: Distribution = declare(LATENESS)
    prepare: Distribution = declare(
        "From the planned opening of a web terminal's line to the last answer before its connection: the login of its "
        "page, the request that makes a terminal",
        None,
        "preparing",
        Better.LESS,
    )
    connect: Distribution = declare(
        "From the planned to the actual opening of a line; for all lines opened in the step, also before measuring",
        None,
        "connecting",
        Better.LESS,
    )
    tls: Distribution = declare("From the open connection to the end of TLS's handshake", None, "TLS", Better.LESS)
    upgrade: Distribution = declare(
        "From there to the answer that opens the WebSocket of a web terminal", None, "upgrading", Better.LESS
    )
    negotiation: Distribution = declare(
        "From the open line to the end of negotiation (telnet's options, ssh's keys)", None, "negotiating", Better.LESS
    )
    login: Distribution = declare("From the end of negotiation to the running program", None, "logging in", Better.LESS)
    session: Distribution = declare(
        "From the open WebSocket to the first message that says that the session is ready",
        None,
        "getting ready",
        Better.LESS,
    )
    groups: list[GroupCounts] = declare("what became of the transactions of each group of users")
    classes: list[TransactionClass] = declare("durations for each class of transactions")
    keys: list[KeyTimes] = declare("durations of the keys of each group of users")
    kernel: KernelTimes | None = declare(
        "The first sign of an answer by the kernel's stamps, on lines that it stamps", None, "first response"
    )
    fairness: Fairness | None = declare("How the users' mean responses compare")
    characters: Characters = declare("Characters a second", better=Better.MORE)
    law: ResponseLaw | None = declare("The response-time law, of closed loads")
    host: HostFigures = declare("The system under test, by its meters")
    driver: DriverLoad = declare("What driving cost: the busiest agent")
    agents: list[AgentFigures] = declare("the figures of each agent")
    odd_nodes: list[OddNode] = declare(
        "what differs on one node from what the others have, by comparing three nodes at least"
    )
    settled: Settling = declare("Whether the host had settled when measuring began, and stayed so")
    limits: list[LimitResult] = declare("each limit, and whether it was kept")
    published: list[PublishedComparison] = declare("published figures beside measured ones")
    opening: OpeningParts = declare(
        "The parts of opening lines, those of the whole step",
        None,
        "opening",
        Better.LESS,
        default_factory=OpeningParts,
    )
    causes: list[Cause] = declare(
        "why lines failed or users waited: limits and settings of the host, by name (docs/causes.md)",
        default_factory=list,
    )
    neighbour: NeighbourFigures | None = declare(
        "What ran beside the measurement; None if the plan's `beside` is off", None, "neighbour", default=None
    )
    hosts: Mapping[str, HostFigures] | None = declare(
        "each host, `host` among them, where several are metered (docs/meters.md); None if only one is",
        default=None,
    )

    login_path: LoginPath | None = declare(
        "Where the time of followed logins goes (docs/path.md); None if none was followed",
        None,
        "login path",
        Better.LESS,
        default=None,
    )
    probe: ProbeFigures | None = declare(
        "What users apart saw, beside the others; None if the plan has no probe", None, "probe", default=None
    )

    # What features of one study add (`cuesta.analysis.features`).
    wire: WireFigures | None = declare(
        "The network between driver and host, if each has one of its own", better=Better.LESS, default=None
    )
    wire_missing: str | None = declare("why nothing is known of that network, if it is so", default=None)
    tmux: TmuxFigures | None = declare("TMux between driver and host, if it was used", default=None)
    bisync: BisyncFigures | None = declare("The bisync lines, if there were any", default=None)

    def find_host(self, name: str) -> HostFigures | None:
        """A host by its name; where a single one is metered, that one."""
        return self.hosts.get(name) if self.hosts else self.host

    @property
    def load_users(self) -> int:
        """The planned users of the load: all without those of probes."""
        return self.users - (self.probe.users if self.probe else 0)

    @property
    def served_transactions(self) -> int:
        """Transactions of the load and of probes: the host works for both."""
        probes = self.probe.groups if self.probe else ()
        return self.transactions.count + sum(each.transactions for each in self.groups if each.group in probes)

    @property
    def served_keys(self) -> int:
        """Keys of the load and of probes."""
        probes = self.probe.groups if self.probe else ()
        return self.keystrokes.count + sum(each.lateness.count for each in self.keys if each.group in probes)

    @property
    def all_keys(self) -> int:
        """Keys of all users, those in the background too: what is counted of all is a share of these."""
        return sum(each.lateness.count for each in self.keys)

    @property
    def all_transactions(self) -> int:
        """Transactions of all users, those in the background too."""
        return sum(each.transactions for each in self.groups)


SINCE_SENT = {"response": "response_from_sent", "echo": "echo_from_sent"}
"""Figures since an open load's arrival, each with the same without its wait for a free user."""
ONLY_SINCE_ARRIVAL = (
    "first_response",
    "whole_frame",
    "connect",
    "skipped",
    "due.waiting",
    "due.skipped",
    "unfinished.oldest",
)
"""Figures that include the wait for a free user, and are not known without it."""
UNDONE = ("skipped", "lost_users")
"""Figures of what was due and not done: unusual unless 0."""
