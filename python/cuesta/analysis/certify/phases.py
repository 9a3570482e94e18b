"""The two phases of a certification run: their times by the driver's clock, and their CPU time by the meters.

Users are started, reach their first prompt, meet at a barrier, pause, and play the commands. The meters read every
quarter of a second, so that at least one reading is within the pause: the subject's CPU time before it belongs to
process creation, its CPU time after it to the commands. If a phase begins or ends between two readings, all of the
subject's CPU time between them belongs to the phase, because the subject does nothing outside of it; the time of others
and idle time are divided in proportion to time.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from cuesta import _native
from cuesta.analysis.step import OF_ECHOES
from cuesta.ledger import Recorded
from cuesta.ledger.meter_report import ByCause, Count, Counts, Idle
from cuesta.ledger.meters import Row
from cuesta.ledger.transactions import Transaction, transactions

CREATION = "process creation"
"""The transaction from the first key, which is sent as soon as the process exists, to its first prompt."""
BUSY = ("usr", "sys", "irq")
"""Shares of the CPUs' time in which they worked, for any process."""
REST = ("iowait", "steal", "idle")
"""Shares of the CPUs' time in which they did not work."""
OWN_COUNTS = ("minor_faults", "major_faults", "system_calls", "execs")
"""Counts of the subject alone."""
PAGE_WAITS = "page_waits"
"""A count that readings have if a tracer was running."""
UNTOLD = "user_and_calls"
"""The cause that the light tracer reports if there is no sample that tells user from system calls."""


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
    """The times of a run's phases and users, by the driver's clock."""

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


@dataclass(slots=True)
class CpuAccount:
    """CPU time of a phase, in seconds. The whole is CPUs × length."""

    span: Span
    cpus: int = 0
    subject: float = 0.0
    rest: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    """The counts `OWN_COUNTS`."""
    occurrences: Counter[str] = field(default_factory=Counter)
    """How often each cause occurred."""
    counted: Counter[str] = field(default_factory=Counter)
    """Readings that have a count, for `OWN_COUNTS`, `page_waits` and `throttled`."""
    readings: int = 0
    samples: float = 0.0
    sampled: float = 0.0
    """CPU time that samples cover."""
    weights: float = 0.0
    """Sum of squares of the CPU time that each sample stands for, which is more in readings with few samples."""
    calibrations: Counter[str] = field(default_factory=Counter)
    """Error of the calibration's constants by cause. It is the same in every reading, so it adds up linearly."""
    unmet: set[str] = field(default_factory=set)
    """Causes of which some reading has no sample, although it might have one."""
    coverage: float = 0.0
    """Share of the subject's CPU time that samples cover; the rest is divided in the same proportions."""
    whole: Counter[str] = field(default_factory=Counter)
    """Like `rest`, but with all of the readings at a bound."""
    there: float = 0.0
    """CPUs × length of whole readings."""
    interrupts: float = 0.0
    """The most of it that interrupts took. Interrupts of idle CPUs belong to no process."""
    why: str | None = None
    """Why there is no account."""

    @property
    def seconds(self) -> float:
        return self.cpus * self.span.seconds

    @property
    def effective(self) -> float:
        """Kish's effective sample size: the number of equally weighted samples with the same sampling error."""
        return self.sampled**2 / self.weights if self.weights else self.samples

    @property
    def seen(self) -> float:
        """CPU time that the meters accounted for in whole readings."""
        return self.subject + sum(max(seconds, 0.0) for seconds in self.whole.values())

    @property
    def accounted(self) -> float | None:
        """Share of the CPUs' time that the subject, others, idle and steal add up to."""
        return self.seen / self.there if self.there else None


@dataclass(frozen=True, slots=True)
class Script:
    """What a certification reads from a tape and the tapes that it sources."""

    listing: str
    creates: bool
    """Whether it has the transaction `CREATION`."""
    pause: float | None
    """Seconds of the pause right after its first barrier; None if it has none."""
    pauses: float
    """Seconds of all pauses, each once, without the one at the end."""


def read_script(script: _native.Script) -> Script:
    outline = script.outline()
    slept = [seconds or 0.0 for word, seconds in outline if word == "Sleep"]
    is_last = outline[-1:] and outline[-1][0] == "Sleep"
    behind = (after for before, after in pairwise(outline) if before[0] == "Barrier")
    pause = next((seconds for word, seconds in behind if word == "Sleep"), None)
    return Script(
        script.listing(),
        CREATION in script.transactions(),
        pause,
        sum(slept[: -1 if is_last else None]),
    )


def phase_times(recorded: Recorded, pause: float | None) -> PhaseTimes:
    """Read the phases of a run. Without a pause there is one phase: a benchmark."""
    group = recorded.plan["group"][0]
    users, stagger = group["users"], _native.duration(group["stagger"]) / 1e9
    log = transactions(recorded)
    created = {each.user: each.done for each in log if each.name == CREATION}
    ended = {each.user: each.done for each in log if each.name != CREATION}
    missing = faults(recorded, log, users)
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


def faults(recorded: Recorded, log: Iterable[Transaction], users: int) -> list[str]:
    """Why a run is not the whole script of all users without errors; empty if it is."""
    reasons = list[str]()
    by_user = Counter(each.user for each in log)
    if len(by_user) < users:
        reasons.append(f"{users - len(by_user)} of {users} users played nothing")
    if len(set(by_user.values())) > 1:
        most = max(by_user.values())
        reasons.append(f"{sum(n < most for n in by_user.values())} users did not come to the end of the script")
    errors = sum((Counter(row.errors) for agent in recorded.agents for row in agent.intervals), Counter[str]())
    reasons += [f"errors: {name} {number}" for name, number in errors.items() if name not in OF_ECHOES]
    if sum(row.unfinished for agent in recorded.agents for row in agent.intervals[-1:]):
        reasons.append("answers were outstanding at the end: measure longer")
    return reasons


def cpu_account(recorded: Recorded, span: Span, others: Iterable[Span] = ()) -> CpuAccount:
    """Add up the readings of a phase. `others` are the other phases: no reading may belong to two."""
    sum_ = CpuAccount(span)
    rows = [row for row in recorded.metered.rows if overlap(row, span) > 0]
    sum_.why = why_not(recorded, span, rows, others)
    if sum_.why is None:
        for row in rows:
            add(sum_, row)
        sum_.rest["others"] = max(sum_.rest["others"], 0)
        known = sum_.subject + sum(sum_.rest[name] for name in ("others", *REST))
        sum_.rest.update({"unaccounted": sum_.seconds - known})
        split(sum_)
    return sum_


def why_not(recorded: Recorded, span: Span, rows: Sequence[Row], others: Iterable[Span]) -> str | None:
    """Why there is no account of a phase; None if there is one."""
    if not recorded.metered.rows:
        return nothing_read(recorded)
    if cut := [gap.why for gap in recorded.metered.gaps if span.begin <= gap.at <= span.end]:
        return f"a gap in the meters: {cut[0]}"
    if sum(overlap(row, span) for row in rows) < span.seconds - 1e-3:
        return "the meters did not read from the beginning to the end of the phase"
    if any(overlap(row, other) > 0 for other in others for row in rows):
        return "no reading fell between the phases: pause for longer behind the barrier"
    if any(row.report.own.seconds.value is None for row in rows):
        return "these meters do not tell the subject's CPU time"
    return None


def nothing_read(recorded: Recorded) -> str:
    """Why the meters read nothing at all."""
    about, gaps = recorded.metered.about(0), recorded.metered.gaps
    return "this run recorded no meters" if about is None else gaps[-1].why if gaps else about.why


def overlap(row: Row, span: Span) -> float:
    """Seconds that a reading and a phase share."""
    return min(row.end, span.end) - max(row.end - row.length, span.begin)


def add(account: CpuAccount, row: Row) -> None:
    """Add a reading: all of the subject's CPU time, and of the rest the part that lies in the phase.

    What others used comes from their own clocks. Where these were not read (the subject has CPUs of its own), it is
    computed as what the CPUs did less the subject's; unsynchronised clocks can make it negative.
    """
    report = row.report
    own = report.own.seconds.value or 0.0
    cpus = len(report.cpus)
    account.cpus = max(account.cpus, cpus)
    capacity = cpus * row.length
    shares = {name: (getattr(report.cpu, name).value or 0.0) / 100 * capacity for name in (*BUSY, *REST)}
    rest = {name: shares[name] for name in REST}
    if (others := report.own.others.value) is not None:
        is_rest = report.own.others_are_rest is not False  # older records do not say it: theirs are
        left = sum(shares[name] for name in BUSY) - own
        rest["others"] = left if is_rest else others / 100 * capacity
        account.interrupts += 0.0 if is_rest else shares["irq"]
    account.subject += own
    account.whole.update(rest)
    account.there += capacity
    account.readings += 1
    left, beyond = capacity - own, capacity - cpus * overlap(row, account.span)
    part = max(1 - beyond / left, 0.0) if left > 0 else 1.0
    account.rest.update({name: seconds * part for name, seconds in rest.items()})
    add_idle(account, report.idle, capacity)
    if report.by_cause.value:
        add_causes(account, report.by_cause.value)
    add_counts(account, report.counts)
    account.counted[PAGE_WAITS] += report.traffic.page_waits.value is not None


def add_idle(account: CpuAccount, idle: Idle, capacity: float) -> None:
    """Add idle time in which a quota kept the subject from running: as traced, else as its control group says."""
    barred = idle.throttled.value if idle.quota_wait.value is None else idle.quota_wait.value
    if barred is not None:
        account.rest.update({"throttled": barred / 100 * capacity})
        account.counted["throttled"] += 1


def add_counts(account: CpuAccount, counts: Counts) -> None:
    for name in OWN_COUNTS:
        counted: Count | None = getattr(counts, name).value
        if counted and name not in counts.of_machine:
            account.counts[name] += counted.count
            account.counted[name] += 1


def split(account: CpuAccount) -> None:
    """Scale the CPU time by cause to all of the subject's: some readings have no sample of it."""
    covered_seconds = sum(account.causes.values())
    if covered_seconds and account.subject:
        account.coverage = covered_seconds / account.subject
        account.causes = Counter({name: seconds / account.coverage for name, seconds in account.causes.items()})


def add_causes(account: CpuAccount, by_cause: ByCause) -> None:
    """Add a reading's CPU time by cause, and how often each occurred."""
    counts = {name: cause.count.value for name, cause in by_cause.causes.items()}
    account.occurrences.update({name: count for name, count in counts.items() if count is not None})
    add_samples(account, by_cause)
    if UNTOLD not in by_cause.causes:
        seconds = {name: cause.seconds.value or 0.0 for name, cause in by_cause.causes.items()}
        account.causes.update(seconds)


def add_samples(account: CpuAccount, by_cause: ByCause) -> None:
    """Add a reading's samples and their sampling error."""
    samples = (by_cause.about["samples"].value or 0.0) if "samples" in by_cause.about else 0.0
    with_error = {name: each for name, each in by_cause.causes.items() if each.standard_error.value is not None}
    seconds = {name: each.seconds.value or 0.0 for name, each in with_error.items()}
    sampled = sum(seconds.values())
    account.samples += samples
    account.sampled += sampled
    account.weights += sampled**2 / samples if samples else 0.0
    account.unmet.update(by_cause.unmet)
    for name, each in with_error.items():
        if each.calibration_error.value and each.percent.value:
            open_ = each.calibration_error.value / each.percent.value * seconds[name]
            account.calibrations.update({name: open_})
