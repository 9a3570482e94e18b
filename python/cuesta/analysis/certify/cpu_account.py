"""The CPU time of one phase of a certification run, by the meters.

The meters read every quarter of a second, so that at least one reading is within the pause between the phases: the
subject's CPU time before it belongs to process creation, its CPU time after it to the commands. If a phase begins or
ends between two readings, all of the subject's CPU time between them belongs to the phase, because the subject does
nothing outside of it; the time of others and idle time are divided in proportion to time.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cuesta.analysis.certify.phases import Span
from cuesta.figures.meter_report import ByCause, Count, Counts, Idle
from cuesta.ledger import Recorded
from cuesta.ledger.meters import Row

BUSY = ("usr", "sys", "irq")
"""Shares of the CPUs' time in which they worked, for any process."""
REST = ("iowait", "steal", "idle")
"""Shares of the CPUs' time in which they did not work."""
OWN_COUNTS = ("minor_faults", "major_faults", "system_calls", "execs")
"""Counts of the subject alone."""
PAGE_WAITS = "page_waits"
"""A count that readings have if a tracer was running."""
UNSPLIT = "user_and_calls"
"""The cause that the light tracer reports if no sample distinguishes user code from system calls."""


@dataclass(slots=True)
class SampleTotals:
    """The samples of the subject in a phase: what the CPU time by cause rests on."""

    number: float = 0.0
    seconds: float = 0.0
    """CPU time that samples cover."""
    squares: float = 0.0
    """Sum of squares of the CPU time that each sample stands for, which is more in readings with few samples."""
    calibrations: Counter[str] = field(default_factory=Counter)
    """Error of the calibration's constants by cause. It is equal in every reading, so it adds up linearly."""
    unmet: set[str] = field(default_factory=set)
    """Causes that some reading could have sampled and did not."""

    @property
    def effective_size(self) -> float:
        """Kish's effective sample size: the number of equally weighted samples with this sampling error."""
        return self.seconds**2 / self.squares if self.squares else self.number


@dataclass(slots=True)
class EventCounts:
    """How often things happened to the subject in a phase."""

    counts: Counter[str] = field(default_factory=Counter)
    """The counts `OWN_COUNTS`."""
    occurrences: Counter[str] = field(default_factory=Counter)
    """How often each cause of CPU time occurred."""
    readings_with: Counter[str] = field(default_factory=Counter)
    """Number of readings that have a figure, for `OWN_COUNTS`, `page_waits` and `throttled`."""


@dataclass(slots=True)
class WholeReadings:
    """The CPUs' time in all readings of a phase, with what lies beyond its bounds: to check that the clocks add up."""

    capacity: float = 0.0
    """CPUs × length."""
    rest: Counter[str] = field(default_factory=Counter)
    """CPU time of others, `iowait`, `steal` and `idle`."""
    interrupts: float = 0.0
    """The most of it that interrupts took. Interrupts of idle CPUs belong to no process."""


@dataclass(slots=True)
class CpuAccount:
    """CPU time of a phase, in seconds. All of it is CPUs × length."""

    span: Span
    cpus: int = 0
    subject: float = 0.0
    rest: Counter[str] = field(default_factory=Counter)
    """What is not the subject's: `others`, `iowait`, `steal`, `idle`, `unaccounted`; `throttled`, a part of `idle`."""
    causes: Counter[str] = field(default_factory=Counter)
    """The subject's by cause; empty if no sample met it."""
    coverage: float = 0.0
    """Share of the subject's CPU time that samples cover; the rest is divided in the same proportions."""
    readings: int = 0
    samples: SampleTotals = field(default_factory=SampleTotals)
    events: EventCounts = field(default_factory=EventCounts)
    whole_readings: WholeReadings = field(default_factory=WholeReadings)
    why: str | None = None
    """Why there is no account."""

    @property
    def seconds(self) -> float:
        return self.cpus * self.span.seconds

    @property
    def measured(self) -> float:
        """CPU time in whole readings that the subject, others, idle and steal add up to."""
        return self.subject + sum(max(seconds, 0.0) for seconds in self.whole_readings.rest.values())


def cpu_account(recorded: Recorded, span: Span, other_phases: Iterable[Span] = ()) -> CpuAccount:
    """Add up the readings of a phase. No reading may belong to another phase too."""
    rows = [row for row in recorded.metered.rows if overlap(row, span) > 0]
    account = CpuAccount(span, why=why_no_account(recorded, span, rows, other_phases))
    if account.why is None:
        for row in rows:
            add(account, row)
        account.rest["others"] = max(account.rest["others"], 0)
        known = account.subject + sum(account.rest[name] for name in ("others", *REST))
        account.rest.update({"unaccounted": account.seconds - known})
        scale_causes_to_subject(account)
    return account


def why_no_account(recorded: Recorded, span: Span, rows: Sequence[Row], other_phases: Iterable[Span]) -> str | None:
    """Why there is no account of a phase; None if there is one."""
    if not recorded.metered.rows:
        return nothing_read(recorded)
    if cut := [gap.why for gap in recorded.metered.gaps if span.begin <= gap.at <= span.end]:
        return f"a gap in the meters: {cut[0]}"
    if sum(overlap(row, span) for row in rows) < span.seconds - 1e-3:
        return "the meters did not read from the beginning to the end of the phase"
    if any(overlap(row, other) > 0 for other in other_phases for row in rows):
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
    """Add a reading: all of the subject's CPU time, and the part of the rest that lies in the phase.

    The time of others comes from their own clocks. If these were not read, because the subject has CPUs of its own, it
    is the CPUs' busy time minus the subject's, which may be negative because these clocks do not tick together.
    """
    report = row.report
    own = report.own.seconds.value or 0.0
    cpus = len(report.cpus)
    account.cpus = max(account.cpus, cpus)
    capacity = cpus * row.length
    shares = {name: (getattr(report.cpu, name).value or 0.0) / 100 * capacity for name in (*BUSY, *REST)}
    rest = {name: shares[name] for name in REST}
    if (percent_of_others := report.own.others.value) is not None:
        is_rest = report.own.others_are_rest is not False  # in older records, which lack the field, they are
        busy = sum(shares[name] for name in BUSY)
        rest["others"] = busy - own if is_rest else percent_of_others / 100 * capacity
        account.whole_readings.interrupts += 0.0 if is_rest else shares["irq"]
    account.subject += own
    account.whole_readings.rest.update(rest)
    account.whole_readings.capacity += capacity
    account.readings += 1
    not_own, beyond = capacity - own, capacity - cpus * overlap(row, account.span)
    part = max(1 - beyond / not_own, 0.0) if not_own > 0 else 1.0
    account.rest.update({name: seconds * part for name, seconds in rest.items()})
    add_idle(account, report.idle, capacity)
    if report.by_cause.value:
        add_causes(account, report.by_cause.value)
    add_counts(account.events, report.counts)
    account.events.readings_with[PAGE_WAITS] += report.traffic.page_waits.value is not None


def add_idle(account: CpuAccount, idle: Idle, capacity: float) -> None:
    """Add idle time in which a quota kept the subject from running: as traced, else as its control group says."""
    barred = idle.throttled.value if idle.quota_wait.value is None else idle.quota_wait.value
    if barred is not None:
        account.rest.update({"throttled": barred / 100 * capacity})
        account.events.readings_with["throttled"] += 1


def add_counts(events: EventCounts, counts: Counts) -> None:
    for name in OWN_COUNTS:
        counted: Count | None = getattr(counts, name).value
        if counted and name not in counts.of_machine:
            events.counts[name] += counted.count
            events.readings_with[name] += 1


def scale_causes_to_subject(account: CpuAccount) -> None:
    """Scale the CPU time by cause so that it adds up to all of the subject's: some readings have no sample of it."""
    covered_seconds = sum(account.causes.values())
    if covered_seconds and account.subject:
        account.coverage = covered_seconds / account.subject
        account.causes = Counter({name: seconds / account.coverage for name, seconds in account.causes.items()})


def add_causes(account: CpuAccount, by_cause: ByCause) -> None:
    """Add a reading's CPU time by cause, and how often each occurred."""
    counts = {name: cause.count.value for name, cause in by_cause.causes.items()}
    account.events.occurrences.update({name: count for name, count in counts.items() if count is not None})
    add_samples(account.samples, by_cause)
    if UNSPLIT not in by_cause.causes:
        seconds = {name: cause.seconds.value or 0.0 for name, cause in by_cause.causes.items()}
        account.causes.update(seconds)


def add_samples(totals: SampleTotals, by_cause: ByCause) -> None:
    """Add a reading's samples and their sampling error."""
    number = (by_cause.about["samples"].value or 0.0) if "samples" in by_cause.about else 0.0
    with_error = {name: each for name, each in by_cause.causes.items() if each.standard_error.value is not None}
    seconds = {name: each.seconds.value or 0.0 for name, each in with_error.items()}
    covered = sum(seconds.values())
    totals.number += number
    totals.seconds += covered
    totals.squares += covered**2 / number if number else 0.0
    totals.unmet.update(by_cause.unmet)
    for name, each in with_error.items():
        if each.calibration_error.value and each.percent.value:
            error = each.calibration_error.value / each.percent.value * seconds[name]
            totals.calibrations.update({name: error})
