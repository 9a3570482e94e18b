"""The two phases of a certification run, by the driver's clock: process creation, and the command sequence.

Users are started, reach their first prompt, meet at a barrier, pause, and play the commands. A benchmark has no pause
and one phase.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from cuesta import _native
from cuesta.analysis.step import ECHO_ERRORS
from cuesta.ledger import Recorded
from cuesta.ledger.transactions import Transaction, read_transactions

CREATION_TRANSACTION = "process creation"
"""The transaction from the first key, which is sent as soon as the process exists, to its first prompt."""


@dataclass(frozen=True, slots=True)
class Span:
    """Part of a run, in seconds from its start."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class PhaseTimes:
    """Times of a run's phases and users, by the driver's clock."""

    users: int
    spans: dict[str, Span]
    """`creation` and `command`; a benchmark has only `command`, from the first start to the last end."""
    creation: list[float]
    """Seconds for each user: from the due start of its process to its first prompt."""
    command: list[float]
    """Seconds for each user: from the end of the pause to its last answer."""
    missing: list[str]
    """Why this is not the whole script of all users; empty if it is."""

    @property
    def completion(self) -> list[float]:
        """Real time of each user, without the wait for the others between the phases."""
        if not self.creation:
            return self.command
        return [one + other for one, other in zip(self.creation, self.command, strict=False)]


@dataclass(frozen=True, slots=True)
class PhasedScript:
    """What a certification reads from a tape and the tapes that it sources."""

    listing: str
    creates: bool
    """Whether it has the transaction `CREATION_TRANSACTION`."""
    pause: float | None
    """Seconds of the pause right after its first barrier; None if it has none."""
    pauses: float
    """Seconds of all pauses, each once, without the one at the end."""


def read_script(tape: _native.Tape) -> PhasedScript:
    outline = tape.outline()
    pauses = [seconds or 0.0 for word, seconds in outline if word == "Sleep"]
    is_last = outline[-1:] and outline[-1][0] == "Sleep"
    after_barriers = (row for before, row in pairwise(outline) if before[0] == "Barrier")
    pause = next((seconds for word, seconds in after_barriers if word == "Sleep"), None)
    return PhasedScript(
        tape.listing(),
        CREATION_TRANSACTION in tape.transactions(),
        pause,
        sum(pauses[: -1 if is_last else None]),
    )


def read_phase_times(recorded: Recorded, pause: float | None) -> PhaseTimes:
    """The phases of a run; without a pause there is one: a benchmark."""
    group = recorded.plan["group"][0]
    users, stagger = group["users"], _native.duration(group["stagger"]) / 1e9
    log = read_transactions(recorded)
    created = {each.user: each.done for each in log if each.name == CREATION_TRANSACTION}
    ended = {each.user: each.done for each in log if each.name != CREATION_TRANSACTION}
    missing = why_incomplete(recorded, log, users)
    if not ended or (pause is not None and not created):
        return PhaseTimes(users, {}, [], [], missing or ["nothing was played"])
    last = max(ended.values())
    if pause is None:
        command = [ended[user] - user * stagger for user in sorted(ended)]
        return PhaseTimes(users, {"command": Span(0.0, last)}, [], command, missing)
    all_created = max(created.values())
    spans = {"creation": Span(0.0, all_created), "command": Span(all_created + pause, last)}
    creation = [created[user] - user * stagger for user in sorted(created)]
    command = [ended[user] - all_created - pause for user in sorted(ended)]
    return PhaseTimes(users, spans, creation, command, missing)


def why_incomplete(recorded: Recorded, log: Iterable[Transaction], users: int) -> list[str]:
    """Why a run is not the whole script of all users without errors; empty if it is."""
    reasons = list[str]()
    by_user = Counter(each.user for each in log)
    if len(by_user) < users:
        reasons.append(f"{users - len(by_user)} of {users} users played nothing")
    if len(set(by_user.values())) > 1:
        most = max(by_user.values())
        reasons.append(f"{sum(n < most for n in by_user.values())} users did not come to the end of the script")
    errors = sum((Counter(row.errors) for agent in recorded.agents for row in agent.intervals), Counter[str]())
    reasons += [f"errors: {name} {number}" for name, number in errors.items() if name not in ECHO_ERRORS]
    if sum(row.unfinished for agent in recorded.agents for row in agent.intervals[-1:]):
        reasons.append("answers were outstanding at the end: measure longer")
    return reasons
