"""What agents and the engine tell each other. Instants are ns, times seconds.

Made by ./scripts/docs from the declarations in `crates/`: change those.
"""

from dataclasses import dataclass

from cuesta.records.rows import WaitingCounts, WaitSample


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
    waiting: WaitingCounts
    """Users who wait for the host at the end of the last interval."""
    long_wait: WaitSample | None
    """The longest wait, with the cursor's row."""
    finished: bool = False
    """Whether all is written."""


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
