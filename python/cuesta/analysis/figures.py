"""All figures of one step: the fields of the `--json` object, as tables. `docs/summary.md` says what each one means."""

from collections.abc import Mapping
from dataclasses import dataclass

from cuesta.analysis.distribution import Distribution
from cuesta.analysis.fairness import Fairness
from cuesta.analysis.host import Host
from cuesta.analysis.law import Law
from cuesta.analysis.limits import Verdict
from cuesta.analysis.published import Beside
from cuesta.analysis.settled import Shift


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of events, and how many a second."""

    count: int
    per_s: float | None


@dataclass(frozen=True, slots=True)
class Errors:
    """Failures of the host and of lines."""

    count: int
    by_name: Mapping[str, int]
    before: Mapping[str, int]
    """Those of the ramp and the settling, by name; they are in no other figure."""
    said: Mapping[str, str]
    """What is known of the first of each name: why a line could not be opened and what to do, how its program ended."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Transactions under way when measuring ended: they are in no distribution."""

    count: int
    oldest: float
    """Seconds since it was due."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Who waited for the host when measuring ended."""

    answers: int
    """Users whose transaction was under way."""
    prompts: int
    """Users who waited for something before they had typed anything."""
    echoes: int
    """Users whose keys were not all echoed."""
    keys: int
    """Those keys."""
    oldest: float
    """Seconds that the one who waited longest had waited."""


@dataclass(frozen=True, slots=True)
class Due:
    """What became of the passes or sessions of an open load that were due in the measurement interval."""

    count: int
    done: int
    failed: int
    """Of those done: given up, or without a line."""
    under_way: int
    waiting: int
    """For a free user."""
    skipped: int
    """Because too many were waiting."""
    adds_up: bool
    """Whether done, under way, waiting and skipped are what was due: each is counted where it happens."""

    @property
    def accounted(self) -> int:
        """Add up what became of it."""
        return self.done + self.under_way + self.waiting + self.skipped

    @property
    def never_begun(self) -> int:
        """Count what no user began."""
        return self.waiting + self.skipped


@dataclass(frozen=True, slots=True)
class Characters:
    """Characters a second: typed and shown (in, out), and what crossed the lines for it."""

    in_per_s: float | None
    in_per_s_per_user: float | None
    """Over the mean number of users at work."""
    out_per_s: float | None
    line_in_per_s: float | None
    line_out_per_s: float | None


@dataclass(frozen=True, slots=True)
class Class:
    """One class of transactions, of one group of users."""

    group: str
    transaction: str
    response: Distribution
    response_from_sent: Distribution
    first_response: Distribution


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one group of users."""

    group: str
    echo: Distribution
    echo_from_sent: Distribution
    lateness: Distribution


FAR_OLDER = 3.0
"""What is unfinished this many times longer than the longest response, and a second, is held to be stuck."""


def is_stuck(waited: float, longest: float) -> bool:
    """Say whether a wait is so long that its answer will not come, by the longest response; both in seconds."""
    return waited > FAR_OLDER * longest and waited > longest + 1.0


@dataclass(frozen=True, slots=True)
class Group:
    """What became of the transactions of one group of users."""

    group: str
    users: int
    transactions: int
    unanswered: int
    """Given up, or stuck at the end; of a group without any transaction or echo, users who never saw a prompt too."""


@dataclass(frozen=True, slots=True)
class Inflation:
    """By how much the driver's own part lengthens a response, in seconds."""

    p50: float
    p99: float


@dataclass(frozen=True, slots=True)
class Kernel:
    """From the last key to the first sign of an answer, by the kernel's stamps and by the driver's."""

    kernel_response: Distribution
    user_response: Distribution
    inflation: Inflation


@dataclass(frozen=True, slots=True)
class Screens:
    """What the users' screens cost."""

    count: int
    """How many there were."""
    bytes_each: float
    """Memory of one, by its size."""
    drawing: float
    """Seconds per second and thread spent drawing on them, by a sample of the drawings."""


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver's own consumption: that of its busiest agent."""

    cpu: float
    """Seconds of CPU per second and thread: a share of one core."""
    run_wait: float
    """Seconds per second and thread in which it was ready to run and had no CPU."""
    threads: int
    """Threads of all agents."""
    rss_per_user: int | None
    """Bytes."""
    screens: Screens | None
    """None where no user looked at one."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One driving process beside the others: a biased one shows."""

    agent: int
    response: Distribution
    lateness: Distribution
    cpu: float
    run_wait: float


@dataclass(frozen=True, slots=True)
class Settled:
    """Whether the host had settled when measuring began."""

    wanted: int | None
    """Users that should have been at work; None where sessions come and go."""
    connected: int
    """Users that were at work."""
    throughput: Shift | None
    """How the throughput changed its level, if it did."""
    response: Shift | None
    """How the response did."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One step. Durations are seconds; a distribution of nothing has the count 0 and no values."""

    step: int
    swept: Mapping[str, object]
    users: int
    load: str
    seconds: float
    """Of the measurement interval, as far as it was recorded."""
    planned_seconds: float
    transactions: Counted
    keystrokes: Counted
    errors: Errors
    skipped: int
    due: Due | None
    """None where no load is open."""
    stray: int
    lost_users: int
    lost_for: Mapping[str, int]
    """Why, by the name of the error."""
    unfinished: Unfinished
    unanswered: int
    """Transactions whose answer did not come: it took too long, or the line was lost."""
    silent: int
    """Transactions that ended by silence, though the host had sent nothing since the last key, not even an echo."""
    waiting: Waiting
    response: Distribution
    response_from_sent: Distribution
    first_response: Distribution
    echo: Distribution
    echo_from_sent: Distribution
    lateness: Distribution
    connect: Distribution
    """Of every line opened in the step, before measuring too; so are the next two."""
    negotiation: Distribution
    login: Distribution
    groups: list[Group]
    classes: list[Class]
    keys: list[Keys]
    kernel: Kernel | None
    fairness: Fairness | None
    characters: Characters
    law: Law | None
    host: Host
    driver: Driver
    agents: list[Agent]
    settled: Settled
    limits: list[Verdict]
    published: list[Beside]
