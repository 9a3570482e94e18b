"""The host's meters over a measurement interval. These are the host's figures, not the driver's."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from statistics import fmean

from cuesta.analysis.front_end import FrontEnd, Sums, derive_front_end
from cuesta.analysis.rows_within import rows_within
from cuesta.figures.system_under_test import BuiltInHost, CpuUse, HostFigures, Metering, PerTransaction
from cuesta.ledger import HostRow, Interval, Recorded, StepTimes
from cuesta.ledger.meters import Metered, MeterRow
from cuesta.line_kinds import OWN_PROGRAMS
from cuesta.records.meter_figure import UNRECORDED, MeterFigure
from cuesta.records.meter_report import ByCause, Count, MeterReport
from cuesta.records.rows import HostServers
from cuesta.target import kind_of

NOT_RECORDED = "no meter data: this run recorded no meters"
PARTS = ("usr", "sys", "irq", "iowait", "steal", "idle")
UNMETERED = 1.0
"""Seconds without meters in a measurement interval from which on a warning is due."""
COUNTS = ("minor_faults", "major_faults", "switches", "system_calls", "ios")


def derive_host_figures(recorded: Recorded, number: int, step: StepTimes, counted: Sequence[Interval]) -> HostFigures:
    """Take the meters of a step's measurement interval; `counted` are the agents' rows in it."""
    shares = rows_within(recorded.host, step)
    return replace(
        derive_metered_figures(recorded, recorded.metered, number, step, counted),
        builtin=builtin_figures(shares, derive_front_end(recorded, step)),
        programs=count_programs(recorded, number),
    )


def derive_hosts(
    recorded: Recorded, number: int, step: StepTimes, counted: Sequence[Interval], first: HostFigures
) -> dict[str, HostFigures] | None:
    """The figures of each host by its name, `first` among them; None if only one is metered."""
    figures = {
        name: first if metered is recorded.metered else derive_metered_figures(recorded, metered, number, step, counted)
        for name, metered in recorded.hosts.items()
    }
    return figures or None


def derive_metered_figures(
    recorded: Recorded, metered: Metered, number: int, step: StepTimes, counted: Sequence[Interval]
) -> HostFigures:
    """The figures of a host by the record of its meters, without what a host records of itself."""
    rows = rows_within(metered.rows, step)
    report = choose_report(metered, number, rows)
    cpu = mean_cpu_use([(report, 1.0)] if report else [(row.report, row.length * share) for row, share in rows])
    end = metered.ends.get(number, step.end)
    undivided = why_undivided(metered, number, report, counted, end) if report and has_users_here(recorded) else None
    # Meters may begin late, and their subject may end: only its interval counts.
    begin = end - report.seconds if report else end
    transactions, keys = (sum_within(counted, begin, end, attrgetter(name)) for name in ("transactions", "keys"))
    return HostFigures(
        cpu=cpu,
        cpu_missing=None if cpu else why_missing(metered, number),
        cpu_by_cause=shares_by_cause(report),
        per_transaction=cost_per_transaction(report, transactions) if report and not undivided else None,
        per_transaction_missing=undivided,
        cpu_by_cause_se=shares_by_cause(report, "standard_error"),
        cpu_by_cause_interval=intervals_by_cause(report),
        meters=describe_metering(recorded, metered, number, step, rows),
        sheet=report,
        builtin=None,
        programs={},
        cpu_per_keystroke=per_keystroke(report, keys) if report and not undivided else None,
    )


def choose_report(metered: Metered, number: int, rows: Sequence[tuple[MeterRow, float]]) -> MeterReport | None:
    """The report of a step; None if rows cover more, as those of meters that had to start again near its end."""
    report = metered.reports.get(number)
    covered = sum(row.length * share for row, share in rows if has_cpu_use(row.report))
    return None if report and covered - report.seconds > UNMETERED else report


def has_users_here(recorded: Recorded) -> bool:
    """Whether the driver, or a part of it, ran on the engine's own machine."""
    machines = [node["machine"].get("id") for node in recorded.run.get("nodes", ())]
    return not machines or recorded.run.get("machine", {}).get("id") in machines


def why_undivided(
    metered: Metered, number: int, report: MeterReport, counted: Sequence[Interval], end: float
) -> str | None:
    """Why a machine's CPU time is not divided by transactions: its driver used more of it than all the rest."""
    about, used = metered.about(number), report.own.seconds.value
    if about is None or (about.source, about.subject) != ("here", "machine") or used is None:
        return None
    driver = sum_within(counted, end - report.seconds, end, lambda row: row.cpu)
    if driver <= used - driver:
        return None
    return (
        f"not divided by transactions: of the machine's {used:.1f} s of CPU the driver used {driver:.1f} s, "
        "more than the host can have used; name the host with --meters pid:N or cgroup:PATH"
    )


def count_programs(recorded: Recorded, number: int) -> dict[str, int]:
    """Count the users of each command that a step starts."""
    steps = recorded.run.get("steps", [])
    users = Counter[str]()
    for group in steps[number]["group"] if number < len(steps) else []:
        if kind_of(group.get("target", "")) in OWN_PROGRAMS:
            users[group["target"]] += group["users"]
    return dict(users)


def mean_cpu_use(reports: Sequence[tuple[MeterReport, float]]) -> CpuUse | None:
    """The use of CPUs over meter reports, each with its weight; None if no report has it.

    A report after the end of the subject is left out: the CPUs' time is that of others.
    """
    known = [
        (read_cpu_use(report), report.own.others.value, weight) for report, weight in reports if has_cpu_use(report)
    ]
    whole = sum(weight for *_, weight in known)
    if not whole:
        return None

    def mean(name: str) -> float | None:
        values = [(used[name].value, weight) for used, _, weight in known]
        return sum(value * weight for value, weight in values if value is not None) / whole

    parts = {name: mean(name) for name in PARTS}
    if any(used["irq"].value is None for used, *_ in known):
        parts["irq"] = None
    is_part = all(others is not None for _, others, _ in known)
    others = sum((others or 0.0) * weight for _, others, weight in known) / whole if is_part else None
    return CpuUse(**parts, others=others, load=100.0 - (parts["idle"] or 0.0))  # type: ignore[arg-type]  # all but irq are known


def read_cpu_use(report: MeterReport) -> Mapping[str, MeterFigure[float]]:
    """The use of CPUs; for a process or control group, `usr` and `sys` are its own, interrupts those outside it."""
    own, cpu = report.own, report.cpu
    used = {name: getattr(cpu, name) for name in (*PARTS, "load")}
    if own.others.value is None:
        return used
    is_older = (
        own.others.tier is not None and own.irq.why == UNRECORDED
    )  # written before interrupts were metered beside a part
    return used | {"usr": own.usr, "sys": own.sys, "irq": cpu.irq if is_older else own.irq}


def has_cpu_use(report: MeterReport) -> bool:
    """Whether a report has the CPUs' time and the subject's."""
    known = all(
        figure.value is not None for name, figure in read_cpu_use(report).items() if name not in ("irq", "load")
    )
    return known and report.own.usr.value is not None and report.own.seconds.why in (None, UNRECORDED)


def why_missing(metered: Metered, number: int) -> str:
    about, gaps, report = metered.about(number), metered.gaps, metered.reports.get(number)
    if about is None:
        return NOT_RECORDED
    ended = report.own.seconds.why if report else None
    return f"no meter data: {ended or (gaps[-1].why if gaps else about.why)}"


def shares_by_cause(report: MeterReport | None, figure: str = "percent") -> Mapping[str, float] | None:
    """CPU shares by cause, or another figure of each cause, if they were metered."""
    found = report.by_cause.value if report else None
    if found is None:
        return None
    shares = {name: getattr(cause, figure).value for name, cause in found.causes.items()}
    return {name: value for name, value in shares.items() if value is not None}


def intervals_by_cause(report: MeterReport | None) -> Mapping[str, tuple[float, float]] | None:
    """The interval of each sampled share; that of a cause without samples begins at 0."""
    found = report.by_cause.value if report else None
    if found is None:
        return None
    limits = {name: cause.interval.value for name, cause in found.causes.items()}
    known = {name: each for name, each in limits.items() if each}
    bound = found.bound.value
    return known if bound is None else known | dict.fromkeys(found.unmet, (0.0, bound))


def sum_within(counted: Sequence[Interval], begin: float, end: float, count: Callable[[Interval], float]) -> float:
    """Sum up a figure of the agents' rows over an interval; a row that it cuts counts by its part."""
    shares = ((row, min(row.start + row.length, end) - max(row.start, begin)) for row in counted if row.length)
    return sum((count(row) * overlap / row.length for row, overlap in shares if overlap > 0), 0.0)


def cost_per_transaction(report: MeterReport, transactions: float) -> PerTransaction | None:
    """Divide what was metered by the transactions of the same interval."""
    if not transactions:
        return None
    cpu = report.own.seconds.value
    counts: dict[str, Count | None] = {name: getattr(report.counts, name).value for name in COUNTS}
    estimated = None if counts["system_calls"] else estimated_calls(report)
    return PerTransaction(
        transactions=transactions,
        cpu_ms=None if cpu is None else 1e3 * cpu / transactions,
        system_calls_estimated=None if estimated is None else estimated / transactions,
        **{name: None if count is None else count.count / transactions for name, count in counts.items()},
        of_machine=[name for name in COUNTS if name in report.counts.of_machine],
    )


def per_keystroke(report: MeterReport, keys: float) -> float | None:
    """Divide the subject's CPU time by the keys of the same interval."""
    seconds = report.own.seconds.value
    return seconds / keys if keys and seconds is not None else None


def count_samples(by_cause: ByCause) -> float:
    """The number of samples that CPU time by cause rests on; 0 if it was not sampled."""
    return (by_cause.about["samples"].value or 0.0) if "samples" in by_cause.about else 0.0


def estimated_calls(report: MeterReport) -> float | None:
    """The sampler's estimate of system calls; None with too few samples."""
    found = report.by_cause.value
    return found.about["calls_estimated"].value if found and "calls_estimated" in found.about else None


def describe_metering(
    recorded: Recorded, metered: Metered, number: int, step: StepTimes, rows: Sequence[tuple[MeterRow, float]]
) -> Metering | None:
    """The source of the figures."""
    about, report = metered.about(number), choose_report(metered, number, rows)
    if about is None:
        return None
    seconds = report.seconds if report else sum(row.length * share for row, share in rows)
    until_the_end = [gap for gap in metered.gaps if gap.at <= step.end]
    gaps = [gap.why for gap in until_the_end if gap.at >= step.begin]
    if not (gaps or report or rows):
        gaps = [gap.why for gap in until_the_end[-1:]]  # the engine gave the meters up before the step began
    length = step.end - step.settled
    if (report or rows) and length - seconds > UNMETERED:
        gaps.append(f"the figures are of {seconds:.1f} s out of {length:.1f} s")
    closes = report.closure.closes if report and report.closure.accounted.value is not None else None
    return Metering(
        source=about.source,
        subject=about.subject,
        why=about.why,
        honesty=about.honesty,
        order=about.order,
        seconds=seconds,
        closes=closes,
        gaps=gaps,
        accounting=report.own.source or None if report else None,
        doubt=report.own.doubt if report else None,
        untraced=why_untraced(recorded, metered.name, report),
    )


def why_untraced(recorded: Recorded, host: str, report: MeterReport | None) -> str | None:
    """Why the kernel was not traced although the plan asked for it, by a figure that only tracers give."""
    from cuesta.plan.meter_places import list_hosts, tracing_tier  # noqa: PLC0415, it loads pydantic, which is slow

    places = [each.where for each in list_hosts(str(recorded.plan.get("meters"))) if host in ("", each.name)]
    if not any(map(tracing_tier, places)):
        return None
    return report.traffic.page_waits.why if report else "nothing was metered"


def builtin_figures(shares: Sequence[tuple[HostRow, float]], meters: FrontEnd | None) -> BuiltInHost | None:
    """Sum up rows by their shares; none if there are none. Hosts of earlier versions have no figures of a front end."""
    length = sum(row.length * share for row, share in shares)
    if not length:
        return None
    rows = [row for row, _ in shares]
    last, total = rows[-1].figures, Sums(shares).total

    def mean(figure: Callable[[HostServers], float | None]) -> float | None:
        seconds = [(figure(row.figures.servers), row.length * share) for row, share in shares]
        known = [value * weight for value, weight in seconds if value is not None]
        return sum(known) / length if known else None

    return BuiltInHost(
        seconds=length,
        lines=max(row.figures.lines.connected for row in rows),
        served_per_s=total(lambda row: row.messages.in_) / length,
        answered_per_s=total(lambda row: row.messages.out) / length,
        line_in_per_s=total(lambda row: row.characters.line_in) / length,
        line_out_per_s=total(lambda row: row.characters.line_out) / length,
        pool_size=last.pool.size,
        pool_used=last.pool.size - last.pool.least_free,
        servers=last.servers.number,
        busy=mean(lambda servers: servers.busy),
        queue=mean(lambda servers: servers.mean_queue),
        cpu=total(lambda row: row.cpu.process) / length,
        **(front_end_figures(meters) if meters else {}),
    )


def front_end_figures(meters: FrontEnd) -> dict[str, float | None]:
    """The figures that `tty_meters` shares with the catalogue."""
    return {
        "idle": fmean(meters.idle) if meters.idle else None,
        "pool_free": meters.pool_free,
        "pool_overflows": meters.space_overflows,
        "output_blocks": meters.output_restarts,
        "typed_per_s": meters.raw_in / meters.seconds,
        "taken_per_s": meters.characters_in / meters.seconds,
        "written_per_s": meters.characters_out / meters.seconds,
        "input_conversion": meters.input_conversion,
        "output_conversion": meters.output_conversion,
    }
