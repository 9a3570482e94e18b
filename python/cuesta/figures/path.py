"""The figures of paths: where the time of followed keys, answers and logins goes on the way through the host.

A hop is a part of a path: what passed on one thing at one task. Kinds of hops are explained in docs/path.md.
"""

from collections.abc import Mapping

from cuesta.figures.about import Better, Unit, declare, figure_table
from cuesta.figures.durations import Distribution


@figure_table
class HopTimes:
    """Seconds of each followed key. All are None where nothing is known of them."""

    mean: float | None = declare("{}: the mean of all followed keys", Unit.SECONDS, default=None)
    p50: float | None = declare("{}: half of the keys have at most this", Unit.SECONDS, default=None)
    p90: float | None = declare("{}: 90 % of the keys have at most this", Unit.SECONDS, default=None)
    p95: float | None = declare("{}: 95 % of the keys have at most this", Unit.SECONDS, default=None)
    p99: float | None = declare("{}: 99 % of the keys have at most this", Unit.SECONDS, default=None)
    max: float | None = declare("{}: the largest", Unit.SECONDS, default=None)


@figure_table
class HopMean:
    """Seconds of each followed answer."""

    mean: float | None = declare("{}: the mean of all followed answers", Unit.SECONDS, default=None)


@figure_table
class PathHop:
    """A part of a path, or the same part of several paths together."""

    kind: str = declare(
        "`network_stack`, `run_queue`, `waking`, `on_cpu`, `worker_queue`, `timer`, `disk`, `sleeping`, `others_keys`, "
        "`held`, `sent` or `beyond`; `outside` is the network and the client, `unclosed` what could not be attributed"
    )
    task: str = declare("the task's name; empty outside of the host")
    pid: int | None = declare("the task's number; None if there were several")
    seconds: float = declare("how long it took; of several paths, the mean", Unit.SECONDS)
    share: float = declare("its share of the whole", Unit.SHARE)
    begin: float | None = declare("when it began, from the path's beginning; None of several paths", Unit.SECONDS)
    call: str | None = declare("the system call in which the task slept")
    other: str | None = declare("who had the CPU, or who woke the task")
    other_pid: int | None = declare("the number of that task; None if there were several")
    why: str | None = declare(
        "of `held`: why TCP held the answer back; of `run_queue`: `quota`; of `sleeping`: `unseen` if its end was not"
    )


@figure_table
class ChainedHop:
    """A hop of the chain that most followed keys share, over these keys."""

    kind: str = declare("the kind of hop")
    task: str = declare("the task's name; empty outside of the host")
    mean: float = declare("the mean", Unit.SECONDS)
    p50: float = declare("the median", Unit.SECONDS)
    p95: float = declare("95 % of the keys have at most this", Unit.SECONDS)
    share: float = declare("its share of the host's part", Unit.SHARE)
    visit: int = declare("which task of the chain it is, from 0: a task has several hops where it also waited")


@figure_table
class PathBand:
    """The keys around one percentile of the echo: what makes these so long."""

    percentile: float = declare("the percentile: 50, 90, 95 or 99")
    keys: int = declare("followed keys around it", Unit.COUNT)
    seconds: float = declare("their mean time, the driver's stamps or the kernel's", Unit.SECONDS)
    parts: list[PathHop] = declare("where it goes: a row for each kind of hop and task, the largest first")


@figure_table
class SlowKey:
    """One followed key."""

    user: int = declare("its user")
    group: str = declare("the group of its user")
    at: float = declare("when its echo was shown, from the start of the run", Unit.SECONDS)
    seconds: float = declare("how long that took", Unit.SECONDS)
    hops: list[PathHop] = declare("its hops, in order; those of one task's visit were interleaved")


NETWORK_STACK = "from a segment's arrival at the host to its socket, also over connections within the host"
RUN_QUEUE = "a task was ready, and others had its CPU, or a quota was used up"
WAKING = "a task was woken on an idle CPU, which took time to come back"
ON_CPU = "tasks were running for this key"
WORKER_QUEUE = "characters waited for the terminal's worker, a task of the kernel"
TIMER = "a task waited for a timer that it had set"
DISK = "a task waited for a block device"
SLEEPING = "a task slept until something woke it: a lock, another task, a device"
OTHERS_KEYS = "the task that had the key was running for keys of others"
HELD = "TCP held the echo back after it had been written"
SENT = "the echo went down the network stack"
BEYOND = "another machine had the key, until its answer came"


@figure_table
class PathPart:
    """Where the time of followed keys goes at one host."""

    keys: int = declare("keys whose path through the host is known", Unit.COUNT, better=Better.MORE)
    missing: int = declare("followed keys without a known path, but those that were left out on purpose", Unit.COUNT)
    missing_for: Mapping[str, int] = declare(
        "these by reason: `no_path`, `not_whole` (its beginning was not seen), `another_answer` (what was followed "
        "ended at another answer than its echo), `port_reused` (connections of one port could not be told apart)"
    )
    paths: int = declare("paths that the host's tracer wrote during the whole run; 0 if it was not traced", Unit.COUNT)
    control: int = declare("keys that the tracer left out on purpose, to tell the price of following", Unit.COUNT)
    coalesced: int = declare("keys that came in one segment with others: these share a path", Unit.COUNT)
    several: int = declare("keys whose echo several answers carried, as programs that write in pieces do", Unit.COUNT)
    host: HopTimes = declare("From the arrival of the key's segment at the host to the departure of its echo")
    outside: HopTimes = declare("The rest of the echo: network, and the client's own network stack")
    unclosed: HopTimes = declare("What of the host's part no hop accounts for")
    price: float | None = declare(
        "by how much a key that is followed is later than one that is not: the shift between keys and control keys "
        "beside them (Hodges–Lehmann); None if it cannot be told",
        Unit.SECONDS,
    )
    price_low: float | None = declare("the lower end of its 95 % interval", Unit.SECONDS)
    price_high: float | None = declare("the upper end of its 95 % interval", Unit.SECONDS)
    network_stack: HopTimes = declare(f"Sum of these hops of a key: {NETWORK_STACK}")
    run_queue: HopTimes = declare(f"Sum of these hops of a key: {RUN_QUEUE}")
    waking: HopTimes = declare(f"Sum of these hops of a key: {WAKING}")
    on_cpu: HopTimes = declare(f"Sum of these hops of a key: {ON_CPU}", label="{} on a CPU")
    worker_queue: HopTimes = declare(f"Sum of these hops of a key: {WORKER_QUEUE}")
    timer: HopTimes = declare(f"Sum of these hops of a key: {TIMER}")
    disk: HopTimes = declare(f"Sum of these hops of a key: {DISK}")
    sleeping: HopTimes = declare(f"Sum of these hops of a key: {SLEEPING}")
    others_keys: HopTimes = declare(f"Sum of these hops of a key: {OTHERS_KEYS}", label="{} busy with others' keys")
    held: HopTimes = declare(f"Sum of these hops of a key: {HELD}")
    sent: HopTimes = declare(f"Sum of these hops of a key: {SENT}")
    beyond: HopTimes = declare(f"Sum of these hops of a key: {BEYOND}")
    parts: list[PathHop] = declare("where it goes on average: a row for each kind of hop and task, the largest first")
    chain: list[ChainedHop] = declare("the chain of hops that most keys share")
    chain_keys: int = declare("keys that have this chain", Unit.COUNT)
    bands: list[PathBand] = declare("where the time goes of keys around the 50th, 90th, 95th and 99th percentile")
    slow_key: SlowKey | None = declare("one slow key, the one nearest to the 99th percentile")
    not_shown: list[str] = declare("kinds of hops that this kernel does not show, with the reason")
    lost: int = declare("paths that the tracer lost, because they were not read in time", Unit.COUNT)


@figure_table
class EchoPath(PathPart):
    """Where the time of followed keys goes; where several hosts are traced, at the first that has any."""

    hosts: Mapping[str, PathPart] | None = declare("each host, where several are traced", default=None)
    groups: Mapping[str, PathPart] | None = declare("each group of users, where several are followed", default=None)


@figure_table
class AnswerPath:
    """Where the time of followed answers goes, from the key that ended an input to the end of its answer."""

    keys: int = declare("answers whose path through the host is known", Unit.COUNT, better=Better.MORE)
    missing: int = declare("followed answers without a known path", Unit.COUNT)
    host: HopTimes = declare("From the arrival of the key's segment at the host to the departure of the answer's end")
    outside: HopTimes = declare("The rest of the response: network, and the client's own network stack")
    network_stack: HopMean = declare(f"Sum of these hops of an answer: {NETWORK_STACK}")
    run_queue: HopMean = declare(f"Sum of these hops of an answer: {RUN_QUEUE}")
    waking: HopMean = declare(f"Sum of these hops of an answer: {WAKING}")
    on_cpu: HopMean = declare(f"Sum of these hops of an answer: {ON_CPU}", label="{} on a CPU")
    worker_queue: HopMean = declare(f"Sum of these hops of an answer: {WORKER_QUEUE}")
    timer: HopMean = declare(f"Sum of these hops of an answer: {TIMER}")
    disk: HopMean = declare(f"Sum of these hops of an answer: {DISK}")
    sleeping: HopMean = declare(f"Sum of these hops of an answer: {SLEEPING}")
    others_keys: HopMean = declare(f"Sum of these hops of an answer: {OTHERS_KEYS}", label="{} busy with others' keys")
    held: HopMean = declare(f"Sum of these hops of an answer: {HELD}")
    sent: HopMean = declare(f"Sum of these hops of an answer: {SENT}")
    beyond: HopMean = declare(f"Sum of these hops of an answer: {BEYOND}")
    bands: list[PathBand] = declare("where the time goes of answers around the 50th, 90th, 95th and 99th percentile")


@figure_table
class LoginPath:
    """Where the time of followed logins goes, from the opening of the line to the first prompt.

    A login is made of rounds: a segment of the client, the host's answer to it, and so on.
    """

    logins: int = declare("logins that could be followed from the connection to the prompt", Unit.COUNT)
    missing: int = declare("followed logins of which that is not known", Unit.COUNT)
    rounds: float | None = declare("rounds between client and host, mean", Unit.COUNT)
    host: HopTimes = declare("Time within the host, of all rounds")
    outside: HopTimes = declare("Time between the rounds: network and client")
    parts: list[PathHop] = declare("where it goes: a row for each kind of hop and task, the largest first")


@figure_table
class FollowedEcho(Distribution):
    """The echo, and where its time goes."""

    path: EchoPath | None = declare(
        "Where the time of followed keys goes (docs/path.md); None if none was followed",
        better=Better.LESS,
        default=None,
    )


@figure_table
class FollowedResponse(Distribution):
    """The response, and where its time goes."""

    path: AnswerPath | None = declare(
        "Where the time of followed answers goes (docs/path.md); None if none was followed",
        better=Better.LESS,
        default=None,
    )
