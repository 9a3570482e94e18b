"""The settings of a plan as keywords of the library, with the values of Python that they take.

Written by `python -m cuesta.plan.document` from the schema: change that.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypedDict


class PlanSettings(TypedDict, total=False):
    """Settings of a plan. Durations are timedeltas, numbers of seconds, or texts such as `200ms`."""

    name: str
    """The beginning of the run folder's name."""
    tape: Path | str
    """The tape that they play: a word (docs/tapes.md), or a file; relative to the plan."""
    users: int | str | Sequence[int | str]
    """Number of users."""
    sessions: int | str | Sequence[int | str]
    """Sessions at once: the users' own, and others that play `sessions_tape`, in the background, as a group
    `others`: docs/beside.md."""
    sessions_tape: Path | str
    """The tape of the other sessions, which starts their output and then only reads: a word, or a file relative to
    the plan; by default, at a shell, a stream of rows."""
    background: bool
    """Whether these users are in the background: they are in no figure of all users, only in rows of their own
    group."""
    target: str
    """The host that they type at; `host:` starts the built-in host."""
    load: str | Sequence[str]
    """When the next input is due: after the think time (closed), once a cycle (paced), at a rate of inputs or
    `:sessions` over all users of the group (open)."""
    align: timedelta | float | str | None
    """A grid for a paced load, the same for all users: each pass is due at a multiple of it; it divides the
    cycle."""
    think: timedelta | float | str | Sequence[timedelta | float | str]
    """Think time instead of the tape's own."""
    key_rate: float | str | Sequence[float | str]
    """Typing rate instead of the tape's own."""
    key_law: str
    """Distribution of the gaps between keys instead of the tape's own."""
    line_speed: int | str | Sequence[int | str]
    """Speed of the lines, 10 bits a character, instead of the tape's own."""
    stagger: timedelta | float | str | Sequence[timedelta | float | str]
    """Time between the starts of two users."""
    data: Path | str
    """CSV of users for `${column}` in the tape, one row a user; relative to the plan."""
    columns: int | str
    """Width of the terminals instead of the tape's own."""
    rows: int | str
    """Height of the terminals instead of the tape's own."""
    seed: int | str
    """One seed gives one sequence of keys and due times."""
    settle: timedelta | float | str
    """Time between the last start of a user and the measurement interval."""
    measure: timedelta | float | str
    """Length of the measurement interval."""
    nodes: int | str
    """Number of machines over which `engine` spreads the users."""
    agents: int | str
    """Number of driver processes on each node; the users are divided among all of them."""
    threads: int | str
    """Number of threads of each agent."""
    pin: bool
    """Keep the driver and the built-in host on different CPUs."""
    isolate: bool
    """As `pin`, and each also gets a network of its own and receives from it on its own CPUs (root):
    docs/meters.md."""
    tmux: timedelta | float | str | None
    """With `isolate`: an agent of TMux (RFC 1692) at each end of the wire holds TCP segments for at most so long,
    to send several in one datagram; `0ms` = it sends what is there at once: docs/tmux.md."""
    defer: timedelta | float | str | None
    """With `isolate`: the kernel at the host's end of the wire puts off receiving for at most so long
    (`napi_defer_hard_irqs`, `gro_flush_timeout`), to receive several packets at once."""
    beside: str | None
    """A command of the shell that runs on this machine while measuring, from a second before: a neighbour that
    takes CPU, memory or disk from the host; one that ends is started again: docs/beside.md."""
    meters: str | Sequence[str]
    """Where the host is metered; `auto` = on this machine if the target is there; `plain` = the same, not sampled;
    `exact` = the same, traced; `calls` = the same, system calls traced: for a short run; or a list of several
    hosts."""
    stamps: int | str
    """Lines on which the kernel stamps keys too: every Nth, `all` or `none`."""
    path: str
    """Probe lines, whose keys are followed through the host: every 30th user (`1/30`), a group, or `none`; `auto` =
    `1/30` where the meters trace (`exact`, `calls`): docs/path.md."""
    spin: bool
    """A driver with CPUs of its own (`pin`), or whose host is elsewhere, waits awake before a key is due and
    shortly after one, because a CPU wakes late: a tenth of a CPU for exact stamps."""
    log_transactions: bool
    """Record every transaction, not only histograms."""
    log_keys: bool
    """Record every key that was echoed and the frame that shows it, not only histograms."""
    cast: int | str
    """A user whose session is written as a cast; 0 is the first of the first group."""
    limits: Sequence[str]
    """Limits that a good run keeps; if one is crossed the exit code is 99."""
    group: Sequence[Mapping[str, object]]
    """Groups of users, each with settings of its own."""
    host: Mapping[str, object]
    """Settings of the built-in host."""
    validity: Mapping[str, object]
    """Thresholds beyond which the run is invalid."""
    secrets: Mapping[str, object]
    """What is secret of the users."""
    published: Sequence[Mapping[str, object]]
    """Published figures, to be shown beside the measured ones."""
    published_table: Sequence[Mapping[str, object]]
    """Published tables, to be shown beside the steps that repeat them."""
    sweep: Mapping[str, Sequence[object]]
    """Settings and the values that they take in turn."""
