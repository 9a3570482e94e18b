"""Reads one run of a certification: its users' times, and the CPU time of each phase by the meters.

The meters read every quarter of a second, so that at least one reading is within the pause between the phases: the
subject's CPU time before it belongs to process creation, its CPU time after it to the commands. If a phase begins or
ends between two readings, all of the subject's CPU time between them belongs to the phase, because the subject does
nothing outside of it; the time of others and idle time are divided in proportion to time. A reading takes a while on a
busy machine: what it counted may have happened until its last counter was read.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from cuesta.analysis.certify.certification_run import CertificationRun, CpuAccount, SampleTotals
from cuesta.analysis.certify.phases import Span, read_phase_times
from cuesta.analysis.host_figures import count_samples
from cuesta.analysis.summary import sum_up
from cuesta.ledger import Recorded, open_run
from cuesta.ledger.meters import MeterRow
from cuesta.ledger.readings import read_kernel_threads, read_runnable_tasks
from cuesta.records.meter_report import ByCause, Count, Counts, Idle

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


def read_run(folder: Path, pause: float | None) -> CertificationRun:
    """Read a run; one of a benchmark has no pause and a single phase. Raises InputError."""
    recorded = open_run(folder)
    times = read_phase_times(recorded, pause)
    accounts = {
        name: cpu_account(recorded, span, [other for each, other in times.spans.items() if each != name])
        for name, span in times.spans.items()
    }
    return CertificationRun(
        folder, sum_up(recorded), times, accounts, read_kernel_threads(recorded), read_runnable_tasks(recorded)
    )


def cpu_account(recorded: Recorded, span: Span, other_phases: Iterable[Span] = ()) -> CpuAccount:
    """Add up the readings of a phase. No reading may belong to another phase too."""
    rows = [row for row in recorded.metered.rows if may_count(row, span)]
    account = CpuAccount(span, why=why_no_account(recorded, span, rows, other_phases))
    if account.why is None:
        for row in rows:
            add_reading(account, row)
        account.rest["others"] = max(account.rest["others"], 0)
        known = account.subject + sum(account.rest[name] for name in ("others", *REST))
        account.rest.update({"unaccounted": account.seconds - known})
        scale_causes_to_subject(account)
    return account


def why_no_account(
    recorded: Recorded, span: Span, rows: Sequence[MeterRow], other_phases: Iterable[Span]
) -> str | None:
    if not recorded.metered.rows:
        about, gaps = recorded.metered.about(0), recorded.metered.gaps
        return "this run recorded no meters" if about is None else gaps[-1].why if gaps else about.why
    if cut := [gap.why for gap in recorded.metered.gaps if span.begin <= gap.at <= span.end]:
        return f"a gap in the meters: {cut[0]}"
    if sum(overlap(row, span) for row in rows) < span.seconds - 1e-3:
        return "the meters did not read from the beginning to the end of the phase"
    if any(may_count(row, other) for other in other_phases for row in rows):
        return "no reading fell between the phases: pause for longer behind the barrier"
    if any(row.report.own.seconds.value is None for row in rows):
        return "these meters do not tell the subject's CPU time"
    return None


def may_count(row: MeterRow, span: Span) -> bool:
    """Whether a reading may have counted events of a phase."""
    counted_until = row.end + (row.report.lasted.value or 0.0)
    return row.end - row.length < span.end and counted_until > span.begin


def overlap(row: MeterRow, span: Span) -> float:
    """Seconds of a reading's interval that lie in a phase."""
    return max(min(row.end, span.end) - max(row.end - row.length, span.begin), 0.0)


def add_reading(account: CpuAccount, row: MeterRow) -> None:
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
    add_counts(account, report.counts)
    if report.traffic.page_waits.value is not None:
        account.readings_with[PAGE_WAITS] += 1


def add_idle(account: CpuAccount, idle: Idle, capacity: float) -> None:
    """Add idle time in which a quota kept the subject from running: as traced, else by its control group."""
    throttled = idle.throttled.value if idle.quota_wait.value is None else idle.quota_wait.value
    if throttled is not None:
        account.rest.update({"throttled": throttled / 100 * capacity})
        account.readings_with["throttled"] += 1


def add_counts(account: CpuAccount, counts: Counts) -> None:
    for name in OWN_COUNTS:
        counted: Count | None = getattr(counts, name).value
        if counted and name not in counts.of_machine:
            account.counts[name] += counted.count
            account.readings_with[name] += 1


def scale_causes_to_subject(account: CpuAccount) -> None:
    """Scale the CPU time by cause to all of the subject's: some readings have no sample of it."""
    covered_seconds = sum(account.causes.values())
    if covered_seconds and account.subject:
        account.coverage = covered_seconds / account.subject
        account.causes = Counter({name: seconds / account.coverage for name, seconds in account.causes.items()})


def add_causes(account: CpuAccount, by_cause: ByCause) -> None:
    counts = {name: cause.count.value for name, cause in by_cause.causes.items()}
    account.occurrences.update({name: count for name, count in counts.items() if count is not None})
    add_samples(account.samples, by_cause)
    if UNSPLIT not in by_cause.causes:
        seconds = {name: cause.seconds.value or 0.0 for name, cause in by_cause.causes.items()}
        account.causes.update(seconds)


def add_samples(totals: SampleTotals, by_cause: ByCause) -> None:
    number = count_samples(by_cause)
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
