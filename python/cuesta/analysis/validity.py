"""Why a run cannot be trusted. A run is valid if nothing here finds a reason to doubt it.

Each doubt is a small type of one shape: `found` looks for it in a step's figures, by the plan's thresholds; its text
says what was found, `advice` what to do. A doubt that sets `voids_limits` fails every limit of the step. Adding a doubt
touches its class and `OF_STEPS`. Doubts about what the host did are in `cuesta.analysis.answering`, those about a
steady state in `cuesta.analysis.unsteady`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

from cuesta.analysis.answering import (
    Died,
    Empty,
    Few,
    FewOfGroup,
    NeverAtWork,
    NoLogin,
    Silent,
    Skipped,
    Stuck,
    Unaccounted,
    Unanswered,
    Unbegun,
    Unechoed,
    Untaken,
    after_errors,
)
from cuesta.analysis.unsteady import Overloaded, Unsettled
from cuesta.figures.counts import WaitSample
from cuesta.figures.step import StepFigures
from cuesta.ledger import Recorded
from cuesta.plan.schema import Validity
from cuesta.units import count, many, seconds, share


class Doubt(Protocol):
    """A reason to doubt a run; its text says what was found."""

    @property
    def advice(self) -> str:
        """One line: what to do."""


@dataclass(frozen=True, slots=True)
class Late:
    """Keys were sent long after they could be (due, user ready, line free): times since due then contain this delay."""

    p99: float
    most: float
    pinned: bool = False
    """Whether the driver had CPUs of its own: then no advice asks for them."""

    @property
    def advice(self) -> str:
        others = "use fewer users, more --threads or --agents"
        return f"{others}, or a quieter machine" if self.pinned else f"{others}, a quieter machine, or --pin"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        p99, most = step.lateness.p99 or 0.0, allowed.lateness_p99 / 1e9
        return cls(p99, most) if p99 > most else None

    def __str__(self) -> str:
        allowed = f"(allowed {seconds(self.most)})"
        return f"the driver was late: 1 % of keys were sent more than {seconds(self.p99)} after they could be {allowed}"


@dataclass(frozen=True, slots=True)
class Busy:
    """The driver used nearly all of its CPU: its own delays look like a slow host."""

    cpu: float
    most: float
    advice: ClassVar[str] = "use fewer users, more --threads or --agents, or another machine for the driver"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        return cls(step.driver.cpu, allowed.driver_cpu) if step.driver.cpu > allowed.driver_cpu else None

    def __str__(self) -> str:
        return f"the driver was busy: {share(self.cpu)} of its cores (allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class Starved:
    """Other programs took the driver's CPU time."""

    run_wait: float
    most: float
    pinned: bool = False
    """Whether the driver had CPUs of its own: then no advice asks for them."""

    @property
    def advice(self) -> str:
        others, fewer = "stop what else runs on the machine", "fewer threads than CPUs"
        return f"{others}, or use {fewer}" if self.pinned else f"{others}, use --pin, or {fewer}"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        return cls(step.driver.run_wait, allowed.run_wait) if step.driver.run_wait > allowed.run_wait else None

    def __str__(self) -> str:
        return f"the driver waited for a CPU {share(self.run_wait)} of the time (allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The driver's machine had no more ports or files for lines. Terminals and processes are the host's."""

    lines: int
    what: str
    advice: ClassVar[str] = "raise what the error names, or use more machines for the driver (--agents)"
    ERRORS: ClassVar = {"out-of-ports": "ports", "out-of-files": "files"}

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        lacking = {what: many for name, what in cls.ERRORS.items() if (many := step.errors.by_name.get(name))}
        return cls(sum(lacking.values()), " and ".join(lacking)) if lacking else None

    def __str__(self) -> str:
        return f"the driver's machine had no more {self.what}: {many(self.lines, 'line')} could not be opened"


@dataclass(frozen=True, slots=True)
class Mismatched:
    """Keys and echoes did not match: echo times may belong to other keys."""

    keys: int
    wrong: int
    most: float
    advice: ClassVar[str] = (
        "check that the host echoes what is typed, and that no other output comes between; keys that print nothing, "
        "such as commands of vi, belong under `Set Echo off`, or have `Set Echo change`"
    )

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        wrong, keys = step.errors.by_name.get("unechoed", 0) + step.stray, step.keystrokes.count
        return cls(keys, wrong, allowed.echo_mismatches) if wrong > allowed.echo_mismatches * keys else None

    def __str__(self) -> str:
        return f"echoes did not match: {count(self.wrong)} of {many(self.keys, 'key')} (allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """Echoes were not timed: what was typed could not be followed in the output."""

    keys: int
    lost: int
    advice: ClassVar[str] = (
        "on a program that draws, `Set Echo screen` follows what is typed; `Set Echo change` needs an answer before "
        "the next key; `off` times no echoes"
    )

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        lost = step.unfollowed
        keys = step.echo.asked + lost
        return cls(keys, lost) if lost > allowed.unfollowed * keys else None

    def __str__(self) -> str:
        keys = many(self.keys, "timed key")
        return f"{count(self.lost)} of {keys} could not be followed in the output, and have no echo time"


FEWEST_THAT_WENT_ON = 3
"""Fewer answers may have gone on by chance, as where two users type at once."""
MENDS = {
    "Wait+Prompt": "let `Set Prompt` match the last prompt only, or wait for what comes last (Wait+Screen /…/)",
    "Wait+Silence": "wait for a longer silence, or for what comes last in an answer (Wait+Screen /…/)",
    "Wait": "wait for what comes last in an answer (Wait+Screen /…/, Wait+Prompt); look with --cast",
}
"""What to do where answers went on, by the wait that ended too early."""


@dataclass(frozen=True, slots=True)
class Continued:
    """Output went on behind answers: their waits may have ended before they were complete."""

    part: float
    median: float | None
    sample: WaitSample | None
    voids_limits: ClassVar[bool] = True

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        many_went_on = step.continued_long >= FEWEST_THAT_WENT_ON
        part = min(step.continued_long / max(step.transactions.count, 1), 1.0)
        found = cls(part, step.continued.p50, step.samples.get("continued"))
        return found if many_went_on and part > allowed.continued else None

    @property
    def advice(self) -> str:
        if not (sample := self.sample):
            return MENDS["Wait"]
        row = f", by the row `{sample.row}`" if sample.row else ""
        mend = MENDS.get(sample.condition.partition(" ")[0], MENDS["Wait"])
        return f"{sample.wait} was met too early{row}: {mend}"

    def __str__(self) -> str:
        return (
            f"behind {share(self.part)} of the answers output went on, for {seconds(self.median)} at the median: "
            "they may not have been complete"
        )


SLOW_START = "settle longer, or start users faster (--stagger)"
COME_AND_GO = "if sessions end, and users log in again, give them a rate (--load open:2/s:sessions)"


@dataclass(frozen=True, slots=True)
class Incomplete:
    """Users were missing when measuring began."""

    connected: int
    wanted: int
    advice: str

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        connected, wanted = step.settled.connected, step.settled.wanted or 0
        if not allowed.settled or wanted - connected <= allowed.lost_users * wanted:
            return None
        again = step.connect.count > step.users  # sessions ended, and users opened their lines again
        return cls(connected, wanted, after_errors(step, COME_AND_GO if again else SLOW_START))

    def __str__(self) -> str:
        return f"only {count(self.connected)} of {many(self.wanted, 'user')} were at work when measuring began"


@dataclass(frozen=True, slots=True)
class Crowded:
    """Users whom the load does not have were still in their last pass when measuring began."""

    left_over: int
    advice: ClassVar[str] = "settle for at least as long as a pass of the tape takes: users leave at its end"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        left_over = step.settled.left_over
        is_much = allowed.settled and left_over > allowed.lost_users * step.users
        return cls(left_over) if is_much else None

    def __str__(self) -> str:
        return f"measuring began with {many(self.left_over, 'user')} more, of the load before"


@dataclass(frozen=True, slots=True)
class Lost:
    """Users lost their lines, or got none: the population was smaller than planned."""

    lost: int
    users: int
    most: float
    advice: str

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        if step.lost_users <= allowed.lost_users * step.users:
            return None
        advice = after_errors(step, "see the errors by name, and how many lines the host takes")
        return cls(step.lost_users, step.users, allowed.lost_users, advice)

    def __str__(self) -> str:
        return f"{count(self.lost)} of {many(self.users, 'user')} had no line at the end (allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class CutOff:
    """Records are missing or damaged."""

    what: tuple[str, ...]
    advice: ClassVar[str] = "what is there was kept; run it again for the rest"

    @classmethod
    def found_in(cls, recorded: Recorded) -> Self | None:
        first = f"{recorded.resumed}/" if recorded.resumed else ""
        damage = tuple(each for each in recorded.damage if each.startswith(first))
        return cls(damage) if damage else None

    def __str__(self) -> str:
        more = f" (and {len(self.what) - 1} more)" if len(self.what) > 1 else ""
        return f"the record is cut off: {self.what[0]}{more}"


@dataclass(frozen=True, slots=True)
class Failed:
    """The driver failed: a failure of the host is data, one of the driver voids the run."""

    agent: int
    reason: str
    advice: ClassVar[str] = "this is the driver's own fault: see the reason"

    @classmethod
    def found_in(cls, recorded: Recorded) -> Self | None:
        for agent in recorded.last_agents:
            if agent.ending and agent.ending["ended"] == "failed":
                return cls(agent.number, agent.ending.get("reason") or "no reason given")
        return None

    def __str__(self) -> str:
        return f"agent {self.agent} of the driver failed: {self.reason}"


@dataclass(frozen=True, slots=True)
class Stolen:
    """The hypervisor took CPU time from the host: the host looks slower than it is."""

    steal: float
    most: float
    advice: ClassVar[str] = "measure when the machine's neighbours are quiet, or on a machine of its own"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        steal = step.host.cpu.steal / 100 if step.host.cpu else 0.0
        return cls(steal, allowed.steal) if steal > allowed.steal else None

    def __str__(self) -> str:
        return f"the hypervisor took {share(self.steal)} of the host's CPUs (allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class Unmultiplexed:
    """TMux was set, and was not in force: what the step shows is that of plain lines, in part or all."""

    missing: tuple[str, ...]
    """The ends without an agent at a bound of the measurement."""
    plain: float
    most: float
    advice: ClassVar[str] = "see why in the agents' status in wire.jsonl (docs/tmux.md), and whether an agent was ended"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        if step.tmux is None:
            return None
        ends = {"driver's": step.tmux.driver, "host's": step.tmux.host}
        missing = tuple(end for end, agent in ends.items() if agent.plain is None)
        plain = step.tmux.plain_share or 0.0
        return cls(missing, plain, allowed.plain_segments) if missing or plain > allowed.plain_segments else None

    def __str__(self) -> str:
        if self.missing:
            return f"TMux was not in force: no agent answered at the {' and the '.join(self.missing)} end"
        return f"TMux was not in force: {share(self.plain)} of the segments went plain (allowed {share(self.most)})"


@dataclass(frozen=True, slots=True)
class LostByAgents:
    """Packets were lost on the way through TMux's agents: TCP sent them again, and keys waited for it."""

    dropped: int
    advice: ClassVar[str] = "use fewer users; `endpoint.dropped` in wire.jsonl tells where (docs/tmux.md: the status)"

    @classmethod
    def found(cls, step: StepFigures, _: Validity) -> Self | None:
        return cls(step.tmux.dropped) if step.tmux and step.tmux.dropped else None

    def __str__(self) -> str:
        return f"TMux's agents lost {many(self.dropped, 'packet')}"


@dataclass(frozen=True, slots=True)
class OutsideTheKernel:
    """The in-kernel path was set, and characters went through the host's process."""

    in_kernel: float
    least: float
    advice: ClassVar[str] = "host.json may tell why; a service with telnet's escapes needs [validity] in_kernel"

    @classmethod
    def found(cls, step: StepFigures, allowed: Validity) -> Self | None:
        relayed = step.host.builtin.in_kernel if step.host.builtin else None
        return cls(relayed, allowed.in_kernel) if relayed is not None and relayed < allowed.in_kernel else None

    def __str__(self) -> str:
        if not self.in_kernel:
            return "the in-kernel path was not taken"
        return f"only {share(self.in_kernel)} of the characters took the in-kernel path (at least {share(self.least)})"


OF_RUNS = (Failed, CutOff)
OF_STEPS = (
    *(Died, Untaken, Unanswered, NeverAtWork, NoLogin, Silent, Unechoed, Empty, Unaccounted, Unbegun),
    *(Unmultiplexed, LostByAgents, OutsideTheKernel),
    *(Lost, Incomplete, Crowded, Overloaded, Unsettled, Stolen, Exhausted, Late, Busy, Starved),
    *(Mismatched, Unfollowed, Continued, Skipped, Stuck, Few, FewOfGroup),
)
"""In the order of the report: what the host did comes first, then causes before what they cause."""

OF_THE_DRIVER = (Exhausted, Late, Busy, Starved, Failed)
"""Doubts that say: the driver could not offer this load on time."""


def doubts_of_run(recorded: Recorded) -> list[Doubt]:
    """Look for reasons to doubt a record as a whole."""
    return [doubt for kind in OF_RUNS if (doubt := kind.found_in(recorded))]


def doubts_of_step(step: StepFigures, allowed: Validity, pinned: bool = False) -> list[Doubt]:
    """Look for reasons to doubt a step. `pinned`: the driver had CPUs of its own."""
    found = [doubt for kind in OF_STEPS if (doubt := kind.found(step, allowed))]
    return [replace(doubt, pinned=pinned) if isinstance(doubt, Late | Starved) else doubt for doubt in found]


def of_the_driver(doubts: Sequence[Doubt]) -> list[Doubt]:
    """Doubts that say: the driver, not the host, is the limit. None where the hypervisor took CPU time: that may have
    delayed the driver."""
    if any(isinstance(doubt, Stolen) for doubt in doubts):
        return []
    return [doubt for doubt in doubts if isinstance(doubt, OF_THE_DRIVER)]


def keeps_limits(doubts: list[Doubt]) -> bool:
    """Whether limits can be judged: no doubt voids them."""
    return not any(getattr(doubt, "voids_limits", False) for doubt in doubts)
