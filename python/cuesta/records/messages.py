"""What agents and the engine tell each other. Instants are ns, times seconds.

Made by ./scripts/docs from the declarations in `crates/`: change those.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cuesta.records.rows import CharacterCounts, WaitingCounts, WaitSample


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    """Users who play the same script against the same target."""

    name: str
    """Its name."""
    script: str
    """Name of its script."""
    target: str
    """URL of the host."""
    columns: int | None = None
    """Width of the terminal."""
    rows: int | None = None
    """Height of the terminal."""
    data: Sequence[Mapping[str, str]] = ()
    """A row of the users' table for each user, in turn."""
    secret: Sequence[str] = ()
    """Its secret columns: no record may show their cells, and no count may reveal how long one is."""
    line_speed: int | None = None
    """Bits per second, in place of the script's; 0: as fast as the line goes."""
    first_agent: int = 0
    """The first agent that plays it."""
    agents: int | None = None
    """How many agents from that one on play it; null: all of the run."""
    path: int = 0
    """The line of every n-th of its users is a probe line, whose keys are followed through the host; 0: of none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSpec:
    """When the next input of a group is due."""

    kind: str
    """`closed`: after the answer to the one before; `paced`: one pass of the script per cycle; `open`: at random
    instants."""
    cycle: int | None = None
    """The cycle of a paced load."""
    per_s: float | None = None
    """Passes of an open load per second, over all users of the group."""
    arrivals: str | None = None
    """What arrives in an open load: `inputs`, on lines that stay open, or `sessions`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What one group does in one step."""

    users: int
    """How many users."""
    stagger: int
    """Between the starts of two users."""
    load: LoadSpec
    """When the next input is due."""
    align: int | None = None
    """The grid of a paced load: each pass is due at a multiple of it on the machine's clock."""
    think: str | None = None
    """A distribution in place of the script's think times."""
    key_rate: float | None = None
    """Keys per second, in place of the script's."""
    key_law: str | None = None
    """The distribution of the gaps between keys, in place of the script's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSpec:
    """One step of load."""

    settle: int
    """From the last user's start to the measurement."""
    measure: int
    """The measurement interval."""
    groups: Sequence[Load]
    """By group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """One agent's part of a run: a plan's segment, resolved."""

    seed: int
    """What all random numbers come from."""
    agent: int = 0
    """Number of this agent, from 0."""
    agents: int = 1
    """How many agents the run has; a group's users are divided among those that play it."""
    threads: int = 1
    """Threads to drive on."""
    cpus: Sequence[int] | None = None
    """The CPU of each thread in turn; null: any."""
    start_at: int | None = None
    """When to start, on the agent's clock; null: at once."""
    started_wall: int | None = None
    """When that is, since 1970."""
    stamps: int = 0
    """The kernel stamps the line of every n-th user; 0: of none."""
    spin: bool = False
    """Whether a thread may spin while it has CPU time to spare, so that its stamps are exact."""
    priority: bool = False
    """Whether driving threads get a CPU before other programs, because a neighbour competes with them (`beside`)."""
    log_transactions: bool = False
    """Whether to keep every transaction."""
    log_keys: bool = False
    """Whether to keep every key that was echoed."""
    cast: int | None = None
    """The user whose session is written as a cast."""
    drain: int
    """The longest wait for responses after the end."""
    groups: Sequence[GroupSpec]
    """Who does what."""
    steps: Sequence[StepSpec]
    """The steps of load, in order."""
    most_users: Sequence[int] | None = None
    """If steps may be added while the run goes on: the most users that each group may ever have; then `steps` has one
    step, whose measurement interval is announced unless it `may_be_cut`."""
    may_be_cut: bool = False
    """Whether the step of such a run has its planned times, and may be cut, so that another one follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeText:
    """A tape."""

    text: str
    """Its text."""
    name: str
    """Its name, for messages."""
    sources: Mapping[str, str]
    """The text of each file that it sources, by the path as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOrder:
    """What an agent has to play."""

    spec: RunSpec
    """The agent's own part."""
    tapes: Mapping[str, TapeText]
    """The tapes that the groups name."""
    environment: Mapping[str, str]
    """Additional variables for the programs that the agent starts on its lines."""
    folder: str
    """The folder in which it records."""
    passphrases: Mapping[str, str]
    """Passphrases of ssh keys, by file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStart:
    """When a segment starts."""

    start_at: int
    """On the agent's clock."""
    started_wall: int
    """Since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrierRelease:
    """The engine's message that all users have arrived at a barrier."""

    group: int
    """Number of the group."""
    barrier: int
    """Number of the barrier in the group's script."""
    round: int
    """Number of the round, from 0."""
    go_on: int
    """When all go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """A step of load that follows."""

    begin: int
    """When its load begins to apply."""
    groups: Sequence[Load]
    """By group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A measurement interval."""

    settled: int
    """Its begin."""
    end: int
    """Its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEnd:
    """The end of a segment's load."""

    at: int
    """When the load of the last step ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """An early end of the last step, with which another one begins. A step that has not settled by then is not
    measured."""

    at: int
    """When its load ends, and the next one begins to apply."""
    groups: Sequence[Load]
    """By group, the next load."""
    settled: int
    """The begin of the next step's measurement interval."""
    end: int
    """Its end, with which the load ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """A change of the schedule, one of these. Instants are offsets from the start of the segment, and must be ahead of
    all threads."""

    step: NextStep | None = None
    """Another step follows."""
    measure: Measurement | None = None
    """The measurement interval of the last step."""
    end: LoadEnd | None = None
    """No step follows."""
    cut: Cut | None = None
    """The last step ends early, and another one follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOrder:
    """What people look at, beside the figures of all users."""

    users: Sequence[int] = ()
    """The users whose screens they see."""
    series: bool = False
    """Whether snapshots have each series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineMessage:
    """A row that the engine sends an agent. The end of its input means that the agent must stop."""

    order: AgentOrder | None = None
    """The first row: what to play."""
    start: AgentStart | None = None
    """Once, when all agents are ready."""
    release: BarrierRelease | None = None
    """Whenever all users of all agents have arrived at a barrier."""
    announce: Announcement | None = None
    """Whenever the schedule of a search changes, or a step is cut."""
    watch: WatchOrder | None = None
    """What people look at from now on."""
    hold_starts: bool | None = None
    """True: users who have not started wait; false: they start."""
    read_clock: int | None = None
    """Asks for the agent's clock, at any time: the instant on the engine's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReady:
    """An agent that has read its order."""

    clock: str | None = None
    """The name of its clock; two clocks of one name are one clock; null: it does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountTotals:
    """What one agent has counted since the start of a segment."""

    transactions: int
    """Transactions completed."""
    keys: int
    """Keys sent."""
    characters: CharacterCounts
    """Characters each way."""
    errors: Mapping[str, int]
    """Failures of the host or the line, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserGlimpse:
    """One user at the end of an interval."""

    user: int
    """Number of the user, over all groups."""
    group: str
    """Name of the group."""
    because: str
    """Why this one: it is of the `slowest`, it is `typical`, or it has `failed`."""
    doing: str
    """What it does."""
    waited: float
    """How long it has waited; 0 if it does not wait."""
    condition: str | None = None
    """What it waits for, as a tape writes it; null unless it has waited long."""
    row: str | None = None
    """The text of the cursor's row then; null without a screen."""
    transactions: int
    """Transactions completed in this step."""
    mean: float
    """Their mean response time."""
    lost: str | None = None
    """Why it has no line; null if it has, or has not started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state of one agent as of its last interval. Those of several agents are merged exactly: counts are added, and
    so are histograms, each an HdrHistogram of nanoseconds (V2, compressed, base64), null where nothing was counted."""

    seconds: float
    """From the start of the segment to the end of the last interval."""
    total: float | None
    """From the start of the segment to the end of its load; null while steps may be added."""
    step: int
    """The load step, from 0: an agent says that of the segment, an observer is told that of the run."""
    steps: int
    """How many load steps there are, of the segment or of the run."""
    phase: str | None
    """The phase of the last interval; null until the first interval has ended."""
    users: int
    """Users with a line."""
    transactions: int
    """Transactions in the last interval."""
    silent: int = 0
    """Those of them that ended by silence although the host had sent nothing."""
    keys: int = 0
    """Keys in the last interval."""
    length: float
    """Length of the last interval."""
    errors: int
    """Failures since the start of the segment."""
    response: str | None
    """Response times since due in the last interval."""
    echo: str | None = None
    """Times to echoes since due in the last interval."""
    lateness: str | None = None
    """Lateness in the last interval."""
    cpu: float = 0.0
    """CPU time of the driver's threads in the last interval; waiting awake is not counted."""
    agent: int = 0
    """Number of the agent."""
    series: Mapping[str, str] = field(default_factory=dict)
    """Each time series since the start of the segment, by its tag, `GROUP/SOURCE/SERIES`; none unless somebody asks for
    them."""
    totals: CountTotals | None = None
    """What was counted since the start of the segment; null unless somebody asks for them."""
    waiting: WaitingCounts
    """Users who wait for the host at the end of the last interval."""
    long_wait: WaitSample | None
    """The longest wait, with the cursor's row."""
    doing: Mapping[str, int] = field(default_factory=dict)
    """How many of the step's users do what then; empty unless somebody looks at users."""
    glimpses: Sequence[UserGlimpse] = ()
    """The slowest users, typical ones, and some that have failed; none unless somebody looks at users."""
    finished: bool = False
    """Whether all is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenSpan:
    """Text of a row in one style."""

    text: str
    """The text, without what would control a terminal."""
    foreground: str | None = None
    """Its colour: a number of the palette, or `#rrggbb`; null: the terminal's own."""
    background: str | None = None
    """The colour behind it."""
    attributes: Sequence[str] = ()
    """Of `bold`, `faint`, `italic`, `underlined`, `blinking`, `inverse`, `crossed_out`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserScreen:
    """What a user's terminal showed at an instant. Rows that hold a part of a secret are hidden."""

    user: int
    """Number of the user."""
    seconds: float
    """From the start of the segment to that instant."""
    columns: int
    """The width of the screen."""
    rows: Sequence[Sequence[ScreenSpan]]
    """From the top, each as runs of text in one style."""
    cursor: tuple[int, int] | None
    """Row and column of the cursor, from 0; null where it is hidden."""
    is_whole: bool
    """Whether it is the user's own screen; if no tape looks at it there is none, and this shows what has come since
    somebody looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrierStatus:
    """The state of a barrier, which an agent tells the engine."""

    group: int
    """Number of the group."""
    barrier: int
    """Number of the barrier in the group's script."""
    round: int
    """Number of the round, from 0."""
    arrived: int
    """Users of this agent that wait there."""
    parties: int
    """Users of all agents that the barrier is for."""
    go_on: int
    """When all go on if no user arrives later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockReading:
    """The clock of an agent, read for the engine."""

    asked: int
    """When the engine asked, on its clock."""
    at: int
    """The instant on the agent's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMessage:
    """A row that an agent sends the engine. An empty one says that it is alive."""

    ready: AgentReady | None = None
    """The first row: it waits for the start."""
    snapshot: Snapshot | None = None
    """Its state, when that has changed."""
    screens: Sequence[UserScreen] | None = None
    """What the screens show of its users that are looked at, a few times a second."""
    standing: BarrierStatus | None = None
    """Whenever arrivals change at a barrier that users of other agents share."""
    clock: ClockReading | None = None
    """The answer to `read_clock`."""
    removing: int | None = None
    """Once it was stopped: how many sessions have left something at hosts that is still to be removed."""
    ended: str | None = None
    """The last row: `completed` or `interrupted`."""
    failed: str | None = None
    """The last row of an agent that cannot go on: why."""
