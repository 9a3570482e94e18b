"""The rows of a run folder (docs/folder.md). Instants are ns, times seconds.

Made by ./scripts/docs from the declarations in `crates/`: change those.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """One load step. The next one begins at its end; in a search some seconds later, and the load goes on until
    then."""

    begin: int
    """Users begin to be added, or to leave."""
    settled: int
    """The measurement interval begins."""
    end: int
    """The measurement interval ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineFile:
    """The instants of a segment: `timeline.json`. Offsets are from `start_at`."""

    clock: str | None = None
    """The name of the clock on which all instants of the folder are."""
    start_at: int
    """The start, on the clock."""
    steps: Sequence[StepTimes]
    """The steps whose measurement interval is known."""
    drain: int
    """The longest wait for answers after the last step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterCounts:
    """Characters, counted on the user's side and on the line."""

    in_: int = 0
    """Typed by users."""
    out: int = 0
    """Shown to users."""
    line_in: int = 0
    """Bytes sent over the lines, negotiation and escapes included."""
    line_out: int = 0
    """Bytes received over the lines, negotiation and escapes included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitSample:
    """Users who have waited long for the same condition with the same text in the cursor's row. Rows with secrets are
    hidden."""

    users: int = 1
    """How many users waited alike."""
    seconds: float
    """The longest of their waits; of `continued`: how long output went on."""
    condition: str
    """The wait, as a tape writes it."""
    place: str = ""
    """Where the wait stands: `row 7 of work`; empty outside of a tape."""
    row: str | None = None
    """The text of the cursor's row, of `continued` when the answer seemed complete; null without a screen."""
    screen: Sequence[str] = ()
    """The rows of the screen that are not blank, or without a screen the last ones that came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameCounts:
    """Frames that show timed keys. A frame ends at the mark of its end (mode 2026), else when nothing has come for a
    moment."""

    count: int
    """Frames that showed a timed key."""
    bytes: int
    """Their bytes."""
    keys: int
    """Keys that they showed."""
    shared: int
    """Those of `keys` in a frame that showed others as well."""
    followed: int
    """Timed keys for which all frames were counted."""
    drawn: int
    """Frames that began after one of `followed` was sent and before the next key, while a key waited or soon after."""
    drawn_bytes: int | None = None
    """Bytes of `drawn`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSums:
    """Time that users spent. Thinking and keying count in the interval where they happen, responses where they end."""

    think: float
    """Thinking."""
    keying: float
    """Keying, from the end of thinking to the last key."""
    response: float
    """Response time of the transactions completed, since the last key was due."""
    response_from_sent: float
    """The same since the last key was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCounts:
    """Users who wait for the host."""

    answers: int = 0
    """Users who wait for an answer."""
    prompts: int = 0
    """Users who wait and have typed nothing, for a first prompt for example."""
    echoes: int = 0
    """Users who wait for the echo of keys."""
    keys: int = 0
    """Keys that wait for their echo."""
    oldest: float
    """The longest wait so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalCounts:
    """What became of the passes or sessions of an open load that were due in a measurement interval. `done`,
    `under_way`, `waiting` and `skipped` add up to `count`; each is counted where it happens."""

    count: int
    """Passes or sessions that were due."""
    done: int
    """Those that ended."""
    failed: int
    """Those of `done` that were given up, lost their line or got none."""
    under_way: int
    """Those that a user was playing at the end."""
    waiting: int
    """Those that waited for a free user at the end."""
    skipped: int
    """Those that were skipped because too many were waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenCounts:
    """Users' screens."""

    count: int
    """How many there are, at the end of the interval."""
    bytes: int
    """Their memory then."""
    drawing: float
    """Time spent drawing on them, estimated by timing one drawing in 61."""
    awaited: float | None = None
    """The part of it that was drawn for users who waited for an answer: their response contains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverCounts:
    """What is counted in one interval."""

    users: int
    """Users with a line at the end of the interval."""
    active: int
    """Those of them that the step has work for."""
    transactions: int
    """Transactions completed."""
    passes: int = 0
    """Passes of the tape that ended, or sessions of an open load: played to the end, or given up."""
    keys: int
    """Keys sent."""
    characters: CharacterCounts
    """Characters each way."""
    errors: Mapping[str, int]
    """Failures of the host or the line, by name."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Details of the first failure of each name, if known: why a line could not be opened, or how the program on it
    ended and what the host sent last."""
    samples: Mapping[str, WaitSample] = field(default_factory=dict)
    """The first wait of each kind that went wrong: by the name of the failure that ended it; `continued` if output went
    on behind its answer; `unfinished` is the longest that goes on at the end of a step."""
    unanswered: int = 0
    """Transactions without a complete answer: the wait timed out, or the line was lost."""
    silent: int = 0
    """Transactions that ended by silence, although the host had sent nothing since the last key, not even an echo."""
    skipped: int = 0
    """Passes or sessions that were due and not begun, because too many were under way."""
    continued_long: int = 0
    """Transactions behind whose answer output went on for over a quarter of the response time, and over 20 ms."""
    unfollowed: int = 0
    """Timed keys without a figure, because the text to which they belong could not be followed, or it could not be told
    which frame shows them."""
    unmarked: int = 0
    """Probe lines (the plan's `path`) that the host's tracer cannot know: through a proxy or a jump host, of a kind
    that it does not follow, or opened while no port of 20000 to 21999 was free."""
    set_aside: int = 0
    """The largest number of cells of a user's screen that changed without keys, where keys are timed to the first frame
    that differs (`Set Echo change`)."""
    frames: FrameCounts | None = None
    """The frames that show keys, of users whose keys are timed by what the screen shows."""
    stray: int = 0
    """Characters that arrived in place of an expected echo."""
    undecoded: int = 0
    """Received bytes that are no character of UTF-8, or of the set that the target names."""
    sums: TimeSums
    """Time that users spent, by activity."""
    unfinished: int
    """Transactions under way at the end of the interval."""
    oldest: float
    """The age of the oldest of them, since it was due."""
    waiting: WaitingCounts | None = None
    """Users who wait for the host at the end of the interval."""
    due: ArrivalCounts | None = None
    """What became of the arrivals of an open load since the measurement began; only while one is measured."""
    cpu: float
    """CPU time of the driver's threads."""
    run_wait: float
    """Time in which they waited for a CPU."""
    spun: float = 0.0
    """The part of `cpu` in which they waited awake ([summary.md](summary.md#the-drivers-own-part))."""
    threads: int
    """Number of the driver's threads."""
    screens: ScreenCounts | None = None
    """The screens of users, if any user has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRow(DriverCounts):
    """One interval of one agent: a row of `series.jsonl`. Only `due` is cumulative."""

    start: float
    """From the start of the segment."""
    length: float
    """Length of the interval."""
    step: int
    """The step, from 0 within the segment."""
    phase: str
    """`settle`, `measure` or `drain`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRow:
    """One user in the measurement interval of one step. Response times are from due."""

    step: int
    """The step, from 0 within the segment."""
    group: str
    """Name of the group."""
    user: int
    """Number of the user, over all groups."""
    transactions: int
    """Transactions completed."""
    mean: float
    """Mean response time."""
    max: float
    """Largest response time."""
    unanswered: int = 0
    """Transactions that were given up: the answer took too long, or the line was lost."""
    waits: str | None = None
    """What it waited for at the end: an `answer`, or a `prompt` that the host shows by itself; null if it did not
    wait."""
    waited: float = 0.0
    """For how long."""
    lost: str | None
    """Why it had no line at the end; null if it had."""
    at_work: bool = True
    """Whether it sent a key, or a wait of it was met."""
    gave_up: bool = False
    """Whether a wait of it was given up."""
    bisync: Mapping[str, int] | None = None
    """What its bisync line carried and its station counted in the interval, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionRow:
    """A row of `transactions.csv`: a transaction with its four instants on the clock."""

    class_group: str
    """The group of its class, in double quotes."""
    transaction: str
    """The name of its class, in double quotes."""
    user: int
    """Number of the user."""
    due: int
    """When the last key of its input was due."""
    sent: int
    """When that was sent."""
    first: int
    """When the first character of the answer arrived."""
    done: int
    """When the answer was complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    """A row of `keys.csv`: a key that was echoed, and the frame that shows it. Columns of the frame are empty for keys
    that the stream times."""

    user_group: str
    """The group of its user, in double quotes."""
    user: int
    """Number of the user."""
    due: int
    """When the key was due."""
    sent: int
    """When it was sent."""
    shown: int
    """When it was shown."""
    whole: int | None = None
    """When the last byte came of the frame that shows it; empty if the frame has no end that is known."""
    frame_bytes: int | None = None
    """The bytes of that frame."""
    frame_keys: int | None = None
    """How many timed keys that frame shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedRow:
    """A row of `agent-K/followed.csv`: a key of a probe line (the plan's `path`), for the join with the path through
    the host."""

    user_group: str
    """The group of its user, in double quotes."""
    user: int
    """Number of the user."""
    what: str
    """`echo`: a key and its echo; `answer`: the key that ended an input, and the end of the answer; `login`: the line's
    opening, and the first prompt."""
    port: int | None = None
    """The client's port; empty at a terminal of the same machine."""
    terminal: int | None = None
    """The number of the pseudo-terminal; empty over TCP."""
    key: int
    """Offset in the stream to the host, modulo 2^32, up to which the key goes; 0 for a login."""
    echo_from: int
    """Offset in the stream from the host, modulo 2^32: the bytes behind it …."""
    echo_to: int
    """… up to this one hold the echo, or the answer's end."""
    sent: int
    """When the key was sent; of a login, when the line was begun to be opened."""
    shown: int
    """When the echo or the end of the answer was received."""
    kernel_sent: int | None = None
    """When the kernel sent the key, where it stamps the line."""
    kernel_shown: int | None = None
    """When the kernel received the echo, where it stamps the line."""
    quickack: bool | None = None
    """Whether segments from the host were acknowledged at once since the key, or as late as the kernel may
    (`TCP_QUICKACK`, at random); empty at a terminal, and for a login."""
    segments: int | None = None
    """Segments with data that came from the key to the echo; empty as `quickack`."""
    acknowledgements: int | None = None
    """Acknowledgements without data that were sent meanwhile; empty as `quickack`."""
    first: int | None = None
    """When the first bytes behind the key were received; empty as `quickack`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEnd:
    """How an agent ended: `agent.json`. A folder without it was cut off."""

    ended: str
    """`completed`, `interrupted` or `failed`."""
    reason: str | None = None
    """Why it failed; null if it did not."""
    rss_per_user: int | None = None
    """Growth of the process's resident memory, divided by its number of users."""
    left_behind: Sequence[str] = ()
    """What its users left at web terminals that could not be removed, one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNote:
    """A row of `agents.jsonl`: a reading of an agent's clock, a silence of the agent, or its death. Instants are on the
    engine's clock."""

    at: int
    """When it was written."""
    agent: int
    """Number of the agent."""
    clock: str | None = None
    """The name of its clock; two clocks of one name are one clock."""
    offset: int | None = None
    """How far its clock is ahead of the engine's."""
    error: int | None = None
    """The most by which that may be wrong: half the time from the request to the answer."""
    start_at: int | None = None
    """In an agent's first row: the start."""
    node: str | None = None
    """In an agent's first row: the name of its node, such as `10.77.0.2` or `driver2`; missing on the engine's own
    machine."""
    silent: int | None = None
    """How long the agent had said nothing, written when it spoke again."""
    died: str | None = None
    """How an agent died that did not end by itself, such as `was killed by signal 9`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireCounters:
    """What one end of the wire has counted. Bytes include Ethernet headers."""

    received_bytes: int
    """Bytes received."""
    received_packets: int
    """Packets received."""
    received_dropped: int
    """Packets that were lost on their way in."""
    sent_bytes: int
    """Bytes sent."""
    sent_packets: int
    """Packets sent."""
    sent_dropped: int
    """Packets that were lost on their way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxReading:
    """An agent of `TMux` at an instant."""

    cpu: int
    """CPU time of its process since its start."""
    status: Mapping[str, Any]
    """[its status](tmux.md#the-status)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxReadings:
    """The agents of `TMux` at an instant. Their counters begin anew when the measurement interval begins."""

    driver: TmuxReading | None
    """The driver's; null if it had ended."""
    host: TmuxReading | None
    """The host's; null if it had ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireReading:
    """The counters of both ends of the wire at an instant."""

    at: int
    """On the engine's clock."""
    driver: WireCounters | None
    """The driver's end; null if that side's process had ended."""
    host: WireCounters | None
    """The host's end; null if that side's process had ended."""
    tmux: TmuxReadings | None = None
    """The agents of TMux; null without TMux."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRow:
    """A row of `wire.jsonl`: what crossed the wire between driver and host in a step."""

    step: int
    """The step, from 0 within the segment."""
    begin: WireReading
    """The reading when the measurement interval began."""
    end: WireReading
    """The reading when it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuReading:
    """The CPU time that something has used by an instant."""

    at: int
    """On the engine's clock."""
    cpu: float
    """CPU time so far, of all its threads and processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourRun:
    """One time that a neighbour's command ran: until the last process of its group had ended."""

    begin: int
    """When it was started, on the engine's clock."""
    end: int
    """When it had ended."""
    ended: str | None = None
    """How it ended, such as `ended with code 2`; null if it was stopped, because the interval was over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourRow:
    """A row of `beside.jsonl`: the neighbour that ran beside a step's measurement interval (the plan's `beside`)."""

    step: int
    """The step, from 0 within the segment."""
    begin: CpuReading
    """Its reading when the measurement interval began."""
    end: CpuReading
    """Its reading when the interval ended, or the run was stopped."""
    runs: Sequence[NeighbourRun]
    """Each time that the command ran, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTotals:
    """What services have exchanged with lines."""

    messages: int
    """Messages that services took."""
    characters_in: int
    """Characters that services took."""
    characters_out: int
    """Characters that services wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLines:
    """The lines of the built-in host."""

    connected: int
    """Connected now."""
    asking: int | None = None
    """Those whose service waits for a message."""
    blocked: int | None = None
    """Those that have not taken all the output that is due."""
    peak: int
    """The most at one time since the start; with several threads, the sum of their peaks."""
    opened: int
    """Opened."""
    refused: int
    """Refused: no descriptor, or an address that is not allowed."""
    closes: Mapping[str, int]
    """Ended, by cause."""
    line_seconds: float
    """Connected time, summed over lines."""
    busiest: LineTotals
    """The largest totals of any line that has ended since the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMessages:
    """Messages of the built-in host."""

    in_: int
    """That services took."""
    out: int
    """Complete answers of services."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCharacters:
    """Characters of the built-in host."""

    typed: int
    """Received from lines, before erasing and killing."""
    in_: int
    """That services took."""
    out: int
    """That services wrote."""
    echoed: int
    """That the front end echoed."""
    line_in: int
    """On the wire towards the host, negotiation and escapes included."""
    line_out: int
    """On the wire towards the terminals, negotiation and escapes included."""
    erased: int
    """Removed by the erase or kill character, and those characters themselves."""
    cut: int
    """Beyond the longest row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAhead:
    """Type-ahead."""

    messages: int
    """Messages."""
    characters: int
    """Their characters."""
    waited_seconds: float | None = None
    """The time that they waited for the service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCalls:
    """System calls on lines."""

    calls: int
    """Calls."""
    seconds: float
    """The time that they took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wakes:
    """Servicing of lines."""

    count: int
    """Times that a line was serviced."""
    seconds: float
    """The time that this took."""
    longest: float
    """The longest of these times since the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputBlocks:
    """Output that lines did not take."""

    count: int
    """Times that output remained."""
    characters: int
    """Characters that remained at those times."""
    least: int | None
    """The fewest that remained at one of them since the start; null if no line has blocked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPool:
    """The pool of output buffers."""

    size: int
    """Characters that it has room for."""
    used: int
    """Characters that wait for output."""
    free: int
    """Free room."""
    least_free: int
    """The least free room since the start."""
    overflows: int
    """Times that it had less room than a line needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostServers:
    """The servers of the service time."""

    number: int
    """Servers."""
    messages: int
    """Messages that they were given."""
    busy_seconds: float
    """The time that they were busy, summed over servers."""
    busy: float | None
    """That time per server and second; null without servers."""
    waited_seconds: float
    """The time that messages waited for a server."""
    mean_queue: float | None
    """The mean number of messages that wait; null without servers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPathLines:
    """Lines and the in-kernel path."""

    joined: int
    """Those that took it."""
    refused: Mapping[str, int]
    """Those that wanted to and could not, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPathInput:
    """Input on the in-kernel path."""

    kernel: int
    """Characters that passed within the kernel."""
    commands: int
    """Bytes of telnet's commands, which the host is told."""
    lost: int
    """Lines that were ended because commands or input of theirs were lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPathOutput:
    """Output on the in-kernel path."""

    kernel: int
    """Characters that passed within the kernel."""
    user: Mapping[str, int]
    """Characters that the host's process wrote, by the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPathTraffic:
    """The in-kernel path of the built-in host."""

    lines: KernelPathLines
    """Lines."""
    input: KernelPathInput
    """Characters from lines to programs."""
    output: KernelPathOutput
    """Characters from programs to lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostThread:
    """CPU time of a thread of the built-in host."""

    seconds: float
    """On a CPU."""
    idle: float | None
    """The share of the time in which it was not on a CPU; null in a row without length."""
    run_wait: float
    """Runnable without a CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCpu:
    """CPU time of the built-in host."""

    threads: Sequence[HostThread | None]
    """Each of its threads; null for one that has ended, or if the kernel has no `schedstat`."""
    process: float
    """Of the whole process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSeriesRow:
    """A row of `host/series.jsonl`: what the built-in host did in about a second. Levels are those at its end."""

    at: int
    """The end of the row's time, on the clock."""
    length: float
    """The length of the row's time."""
    lines: HostLines
    """The lines."""
    messages: HostMessages
    """Messages each way: rows, or characters of raw input."""
    characters: HostCharacters
    """Characters at each stage of the front end."""
    read_ahead: ReadAhead
    """Messages that came before the service asked for them (type-ahead)."""
    reads: LineCalls
    """Reads of lines."""
    writes: LineCalls
    """Writes to lines."""
    wakes: Wakes
    """Servicing of lines: today's form of interrupts."""
    output_blocks: OutputBlocks
    """Times that a line did not take all the output that was due."""
    pool: HostPool
    """The pool of output buffers."""
    servers: HostServers
    """The servers of the service time."""
    bisync: Mapping[str, int] | None = None
    """The counters of bisync lines, by name; null if there were none."""
    kernel_path: KernelPathTraffic | None = None
    """The in-kernel path; null if the host does without."""
    cpu: HostCpu
    """CPU time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterAbout:
    """What the meters of a segment meter, and how certainly."""

    source: str
    """`here`, `ssh`, `node_exporter` or `none`."""
    subject: str
    """What is metered ([meters.md](meters.md#what-is-metered-the-subject))."""
    whole_machine: bool | None = None
    """Whether that is the whole machine; older folders say it by `subject` alone."""
    why: str
    """Why this subject was chosen; or why nothing is metered."""
    honesty: str
    """How certainly its CPU figures are the host's."""
    order: int | None = None
    """The number of that attribution level, from 1, the most certain; null if it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterRecord:
    """A row of `meters.jsonl`: beside `at` either `about`, `row` and `seconds`, `step` and `sheet`, `step` and
    `profile`, or `gap`."""

    at: int
    """On the engine's clock, also for meters of another machine."""
    about: MeterAbout | None = None
    """In the first row: what is metered."""
    row: Mapping[str, Any] | None = None
    """A report of about a second: numbers without tiers; figures that were not metered are left out."""
    seconds: float | None = None
    """The length of the interval of `row`."""
    step: int | None = None
    """The step of `sheet` or `profile`, from 0 within the segment."""
    sheet: Mapping[str, Any] | None = None
    """All figures of a step's measurement interval; each figure is `{"value", "tier"}` or `{"why"}`
    ([meters.md](meters.md))."""
    profile: Mapping[str, Any] | None = None
    """Where the host's CPU time went in a step's measurement interval, by location and module; `flame.svg` draws that
    of the last step."""
    gap: str | None = None
    """Why the meters gave no figures from then on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathHop:
    """A part of a path: what passed on one thing at one task. A visit of a task may have several, which were
    interleaved."""

    kind: str
    """`on_cpu`, `run_queue`, `waking`, `timer`, `disk`, `sleeping`, `network_stack`, `worker_queue`, `others_keys`,
    `sent`, `held` or `beyond`."""
    task: str = ""
    """The task's name; empty if no task had the key."""
    pid: int = 0
    """The task's number (of its thread)."""
    call: str | None = None
    """Of `timer`, `disk` and `sleeping`: the system call in which it slept last."""
    other: str | None = None
    """Of `run_queue`: the task that had the CPU last; of `sleeping`: the task that woke it; null if it was an
    interrupt; of `beyond`: the other machine's address and port."""
    other_pid: int | None = None
    """The number of that task."""
    why: str | None = None
    """Of `held`: why: `nagle`, `cork`, `window`, `congestion` or `other`; of `run_queue`: `quota` if a CPU quota was
    used up (Linux 6.18 or newer); of `sleeping`: `unseen` if the tracer did not see it end."""
    port: int | None = None
    """Of `beyond`: the port of this end of the connection."""
    sent: int | None = None
    """Of `beyond`: offset in the stream to the other machine before what was sent, modulo 2^32."""
    answered: int | None = None
    """Of `beyond`: how far the stream from there had come with the answer."""
    ns: int
    """How long."""
    ended: int
    """When the task's visit ended, from the path's beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRow:
    """The path of what one segment of a client brought, a key or several, through the host, up to the segment that
    carries an answer. A segment that is answered by several segments has a path for each. Durations are on the host's
    clock; their sum is `ns`, but for what could not be attributed."""

    port: int | None = None
    """The client's port; null at a terminal of the same machine."""
    terminal: int | None = None
    """The number of the pseudo-terminal; null over TCP."""
    key_from: int
    """Offset in the stream to the host, modulo 2^32: the segment's bytes are those behind it …."""
    key_to: int
    """… up to this one."""
    echo_from: int
    """Offset in the stream from the host, modulo 2^32: the answer's bytes are those behind it …."""
    echo_to: int
    """… up to this one."""
    begun: int
    """When the segment arrived, on the host's monotonic clock."""
    ns: int
    """From the segment's arrival to the answer's departure."""
    whole: bool
    """Whether the path is known from its beginning."""
    hops: Sequence[PathHop]
    """In order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCounts:
    """What a tracer has followed since its start."""

    keys: int
    """Segments with data that came on followed lines."""
    finished: int
    """Paths that were written."""
    lost: int
    """Paths that were lost: the kernel's buffer was full."""
    unknown: int
    """Answers by tasks that had no key of that line: each has no path."""
    missing: Sequence[str]
    """What this kernel does not show: the kinds of hops that then have no figure, if any, and the reason, such as
    `sent, held: … (this kernel has no tracepoint tcp_sendmsg_locked)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRecord:
    """A row of `paths.jsonl`: beside `host_at` either `path`, or `counts`. The tracer of the host writes it."""

    host_at: int
    """When it was written, on the host's monotonic clock."""
    path: PathRow | None = None
    """A path that was followed to its end."""
    counts: PathCounts | None = None
    """What was followed so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkageRow:
    """A row of `linkage.jsonl`: what dynamic linkers have reported."""

    at: int
    """On the engine's clock."""
    programs: int
    """Programs whose linker has reported."""
    symbols: int
    """References that these have bound by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnableRow:
    """A row of `wanting.jsonl`: the tasks of a benchmark's programs."""

    at: int
    """On the engine's clock."""
    tasks: int
    """Number of all tasks."""
    wanting: int
    """Tasks that run, are ready to run, or wait for a device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelThreadsRow:
    """A row of `kernel-threads.jsonl`: what the kernel's own threads have used."""

    at: int
    """On the engine's clock."""
    seconds: float
    """CPU time since the first row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkRow:
    """A row of `marks.jsonl`: an instant that somebody who watched the run has marked, or at which somebody steered
    it."""

    seconds: float
    """From the start of the segment."""
    note: str
    """What was said of it."""
    holds_starts: bool | None = None
    """Of a mark that holding or releasing starts left: whether users who have not started wait from then on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatcherRow:
    """A row of `watchers.jsonl`: what somebody who watched the run used in a step's measurement interval."""

    step: int
    """The step, from 0 within the segment."""
    name: str
    """Who watched, such as `live view`."""
    begin: CpuReading
    """The reading when the measurement interval began."""
    end: CpuReading
    """The reading when it ended, or the run was stopped."""
