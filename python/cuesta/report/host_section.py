"""The host under test, in sentences: the use of its CPUs and its causes, how certain that is, and its own meters."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cuesta import units
from cuesta.analysis.front_end import derive_front_end
from cuesta.analysis.host_figures import COUNTS, PARTS, read_cpu_use
from cuesta.analysis.planned import last_part, write_swept_value
from cuesta.analysis.summary import Summary
from cuesta.figures.step import StepFigures
from cuesta.figures.system_under_test import BuiltInHost, HostFigures, PerTransaction
from cuesta.ledger import segment_folders
from cuesta.ledger.meters import Metered
from cuesta.records.meter_figure import UNRECORDED, MeterFigure
from cuesta.records.meter_report import CauseRow, Cpu, Device, MeterReport
from cuesta.report import meters, off_cpu, profile
from cuesta.report.cells import bracket_tiers, duration, name_cause, number, whole
from cuesta.report.cells import percent as percent_cell
from cuesta.report.figure import write_rate
from cuesta.report.front_end import text as tty_meters
from cuesta.report.meters import SOURCES, describe_closure
from cuesta.report.model import Cell, Folded, Listing, Part, Picture, Rank, Remark, Section, Spare, Table, Words
from cuesta.units import count, digits, interval, many, percent, seconds, share, upper_bound, write_rounded

IDLE = {
    "zero": "zero",
    "page_wait": "page wait",
    "loading": "loading",
    "io_wait": "I/O wait",
    "quota_wait": "throttled",
}
"""Kinds of idle in the traced tier, which exclude each other."""
SMALLEST = 0.05
"""Percent of the CPUs below which causes are put together."""
ISOLATED = 2
LOOPBACK = (3, 4)
"""Places in the attribution levels (docs/meters.md)."""
OTHERS = 5.0
"""Percent of the host's CPUs from which on others are named."""
LARGEST_PICTURE = 4 << 20
"""The most bytes of a flame graph in the page."""
FLAME = "Where the host's CPU time went in the measurement interval (flame graph)"
DEVICES: tuple[Cell, ...] = (
    Words("device", "a block device of the host"),
    Words("reads/s", "reads that the device completed, a second"),
    Words("writes/s", "writes that the device completed, a second"),
    Words("time between", "average time between requests"),
    Words("queue", "requests that waited or were served, on average"),
    Words("response", "time of a request, waiting included"),
    Words("service", "time that a request kept the device busy"),
    Words("% busy", "share of the time with at least one request"),
    Words("errors", "requests that failed"),
)


def sections(summary: Summary) -> Iterator[Section]:
    """The host; where several are metered, each of them."""
    if summary.last.hosts is None:
        yield host_section(summary, summary.last.host)
        return
    for name, host in summary.last.hosts.items():
        yield replace(host_section(summary, host, name), title=f"Host: {name}", name="HOST")


def host_section(summary: Summary, host: HostFigures, name: str = "") -> Section:
    """One host; its name where several are metered."""
    cpu, causes, lost = list(describe_cpu(host, name)), list(describe_causes(host)), list(warn_of_lost_time(host))
    parts: list[Part] = list(map(Remark, (*list_programs(host), *cpu, *causes, *lost)))
    brief = Spare(Rank.HOST, Remark("; ".join((sum_up_cpu(host, name), *lost))))
    spare = [Spare(rank, Remark(each)) for rank, each in enumerate((*causes, *list_programs(host)), Rank.CAUSES)]
    rest = [*describe_details(host), *(describe_built_in(host.builtin) if host.builtin else ())]
    more: list[Part] = [*map(Remark, rest), *(Remark(each, "faint") for each in describe_certainty(host))]
    more = [*more, *tables(host), *listings(summary, host, name)]
    return Section("Host", parts, more, brief=[], spare=[brief, *spare])


def tables(host: HostFigures) -> Iterator[Table]:
    meter_report = host.meter_report
    if meter_report and meter_report.devices:
        devices = meter_report.devices
        tier = bracket_tiers(*(figure for d in devices.values() for figure in (d.atb, d.queue, d.busy, d.errors)))
        yield Table(DEVICES, [(name, *device_cells(d)) for name, d in devices.items()], f"of the whole machine{tier}")
    if meter_report and (rows_off := list(off_cpu.rows(meter_report))):
        yield Table(("off its CPU", *off_cpu.HEADS), rows_off, f"{off_cpu.ABOUT}.")


def device_cells(device: Device) -> Iterator[str]:
    yield from (digits(device.reads.per_s), digits(device.writes.per_s))
    yield from (duration(device.atb), number(device.queue), duration(device.response), duration(device.service))
    yield from (percent_cell(device.busy), whole(device.errors))


def listings(summary: Summary, host: HostFigures, name: str) -> Iterator[Folded]:
    """The whole meter reports, folded."""
    if host.meter_report:
        yield Folded("The host's meters", [Listing(meters.text(host.meter_report))])
    metered = summary.recorded.hosts.get(name, summary.recorded.metered)
    is_first = metered is summary.recorded.metered
    flame = "flame.svg" if is_first else f"flame-{name}.svg"
    pictures = [path / flame for path in segment_folders(summary.recorded.folder)]
    known_pictures = [path for path in pictures if path.exists() and 0 < path.stat().st_size <= LARGEST_PICTURE]
    if known_pictures:
        yield Folded(FLAME, [Picture(FLAME, known_pictures[-1])])
    for each in busiest_steps(summary):
        if is_first:
            yield from front_end_listings(summary, each)
        yield from profile_listings(summary, each, metered)


def busiest_steps(summary: Summary) -> list[StepFigures]:
    """For each tape the step with the most characters on the built-in host's lines."""
    by_tape: dict[str, list[StepFigures]] = {}
    for step in summary.steps:
        tape = next((str(value) for name, value in step.swept.items() if last_part(name) == "tape"), "")
        by_tape.setdefault(tape, []).append(step)
    return [max(steps, key=count_carried) for steps in by_tape.values()]


def count_carried(step: StepFigures) -> float:
    host = step.host.builtin
    return host.line_in_per_s + host.line_out_per_s if host else 0.0


def front_end_listings(summary: Summary, step: StepFigures) -> Iterator[Folded]:
    """What the front end of 1979 printed: `tty_meters`."""
    times = summary.recorded.steps.get(step.step)
    if times and (front_end_report := derive_front_end(summary.recorded, times)):
        which = name_busiest(summary, step)
        yield Folded(f"The front end's meters (tty_meters){which}", [Listing(tty_meters(front_end_report))])


def profile_listings(summary: Summary, step: StepFigures, metered: Metered) -> Iterator[Folded]:
    """The host's profile as `ic_sample` printed it."""
    meter_report, listing = metered.reports.get(step.step), metered.profiles.get(step.step)
    if meter_report and listing:
        samples = Listing(profile.text(listing, meter_report))
        yield Folded(f"Where the host's CPU time went (ic_sample){name_busiest(summary, step)}", [samples])


def name_busiest(summary: Summary, step: StepFigures) -> str:
    """Which of several steps a listing is of; empty if there is one."""
    if len(summary.steps) < 2:
        return ""
    swept = ", ".join(write_swept_value(name, value) for name, value in step.swept.items())
    return f", step {step.step + 1}, the largest throughput" + (f": {swept}" if swept else "")


def describe_cpu(host: HostFigures, name: str = "") -> Iterator[str]:
    """Utilization of the host's CPUs, or why it is unknown."""
    if host.cpu is None:
        yield say_unmetered(host, name)
        return
    cpu, meter_report = host.cpu, host.meter_report
    cpus = f" of {many(len(meter_report.cpus), 'CPU')}" if meter_report else ""
    subject = name_subject(host, name)
    shares = {name: share for name in PARTS if (share := getattr(cpu, name)) is not None}
    beside = "others" if "irq" in shares else "others and interrupts"
    others = "" if cpu.others is None else f"  {beside} {cpu.others:.1f}"
    tier = bracket_tiers(*read_cpu_use(meter_report).values()) if meter_report else ""
    parts = (f"%{name} {share:.1f}" for name, share in shares.items())
    yield f"{subject}; percent{cpus}:"
    yield f"{'  '.join(parts)}{others}; host load {cpu.load:.1f}{tier}"


def say_unmetered(host: HostFigures, name: str) -> str:
    return f"{name or 'host CPU'}: {host.cpu_missing or 'no meter data'}"


def name_subject(host: HostFigures, name: str) -> str:
    """What was metered and why, after the host's name where it has one that is not said by the subject."""
    subject = f"{host.meters.subject}, {host.meters.why}" if host.meters else "the host"
    return subject if not name or subject.startswith(f"{name}: ") else f"{name}: {subject}"


def sum_up_cpu(host: HostFigures, name: str) -> str:
    """The use of the host's CPUs in a sentence. Parts that rounding makes 0 are left out."""
    if host.cpu is None:
        return say_unmetered(host, name)
    cpus = f" of {many(len(host.meter_report.cpus), 'CPU')}" if host.meter_report else ""
    subject = name_subject(host, name)
    parts = {**{name: getattr(host.cpu, name) for name in PARTS}, "others": host.cpu.others}
    shares = (f"{name} {part:.1f} %" for name, part in parts.items() if part and round(part, 1))
    return f"{subject}: {', '.join(shares)}{cpus}"


def describe_causes(host: HostFigures) -> Iterator[str]:
    """The causes of the host's CPU time, and the cost of a transaction."""
    if host.cpu is None:
        return
    meter_report = host.meter_report
    causes_figure = meter_report and meter_report.by_cause
    if causes_figure and causes_figure.value and (causes := ", ".join(list_causes(causes_figure.value.causes))):
        yield f"by cause: {causes}{bracket_tiers(causes_figure)}"
    if host.per_transaction and meter_report:
        yield describe_transaction(host.per_transaction) + bracket_tiers(
            meter_report.own.seconds, *(getattr(meter_report.counts, name) for name in COUNTS)
        )


def describe_details(host: HostFigures) -> Iterator[str]:
    if host.cpu is None:
        return
    yield from describe_unsampled(host)
    yield from describe_idle(host.meter_report)
    yield from describe_network(host)
    if host.per_transaction_missing:
        yield host.per_transaction_missing


def list_host_doubts(step: StepFigures) -> Iterator[str]:
    if step.hosts is None:
        yield from list_doubts_of(step.host)
        return
    for name, host in step.hosts.items():
        yield from (f"{name}: {doubt}" for doubt in list_doubts_of(host))


def list_doubts_of(host: HostFigures) -> Iterator[str]:
    if host.meters is None or host.cpu is None:
        return
    if host.meters.untraced:
        yield f"not traced, though that was asked for: {host.meters.untraced}"
    if host.meters.doubt:
        yield f"DOUBTFUL: {host.meters.doubt}"
    closure = host.meter_report and host.meter_report.closure
    if closure and closure.accounted.value is not None and not closure.closes:
        yield describe_closure(closure)
    yield from (f"a gap in the meters: {gap}" for gap in dict.fromkeys(host.meters.gaps))


def list_causes(causes: Mapping[str, CauseRow]) -> Iterator[str]:
    """Shares of the causes, the largest first, with the 95 % intervals of sampled ones."""
    known = [(name, row, value) for name, row in causes.items() if (value := row.percent.value) is not None]
    shares = sorted(known, key=lambda share: -share[2])
    small = [value for *_, value in shares if value < SMALLEST]
    for name, row, value in shares:
        if value >= SMALLEST:
            within = f" [{interval(*limits)}]" if (limits := row.interval.value) else ""
            yield f"{name_cause(name)} {percent(value, row.standard_error.value)}{within}"
    if (rest := sum(small)) >= SMALLEST:
        what = "others" if len(small) < len(shares) else "causes together"
        yield f"{len(small)} {what} {write_rounded(rest, rest, 3)}"


def describe_unsampled(host: HostFigures) -> Iterator[str]:
    """The causes without samples, with their upper bound."""
    intervals = host.cpu_by_cause_interval or {}
    names = [name for name in intervals if name not in (host.cpu_by_cause or {})]
    if names:
        listed_names = ", ".join(name_cause(name) for name in names)
        yield f"no sample met {listed_names}: each {upper_bound(intervals[names[0]][1])}"


def describe_idle(meter_report: MeterReport | None) -> Iterator[str]:
    if meter_report and meter_report.idle.page_wait.tier == "exact":
        kinds = (f"{name} {getattr(meter_report.idle, kind).value:.1f}" for kind, name in IDLE.items())
        yield f"idle by kind: {', '.join(kinds)} (exact)"


def describe_transaction(cost: PerTransaction) -> str:
    parts = {
        "CPU": None if cost.cpu_ms is None else seconds(cost.cpu_ms / 1e3),
        "page faults": add_known(cost.minor_faults, cost.major_faults),
        "context switches": cost.switches and digits(cost.switches),
        "system calls": write_calls(cost),
        "I/Os": cost.ios and digits(cost.ios) + (" (of the machine)" if "ios" in cost.of_machine else ""),
    }
    return "per transaction: " + ", ".join(f"{name} {value}" for name, value in parts.items() if value)


def write_calls(cost: PerTransaction) -> str | None:
    """System calls, counted or else estimated from samples."""
    if cost.system_calls is not None:
        return digits(cost.system_calls)
    estimated = cost.system_calls_estimated  # accurate to a tenth at best: docs/meters.md
    return None if estimated is None else f"about {write_rounded(estimated, estimated / 10)} (estimated)"


def add_known(*numbers: float | None) -> str | None:
    known = [number for number in numbers if number is not None]
    return digits(sum(known)) if len(known) == len(numbers) else None


def describe_network(host: HostFigures) -> Iterator[str]:
    """Whose the network's CPU time is; nothing for a host on another machine."""
    if host.meters is None or host.meter_report is None or host.meter_report.network.percent.why == UNRECORDED:
        return
    if host.meters.order == ISOLATED:
        yield describe_sides(host.meter_report)
        if host.cpu and (host.cpu.others or 0.0) > OTHERS:
            others = f"others took {host.cpu.others:.1f} % of the host's CPUs"
            yield f"{others}: that these were busy is not the host's alone"
    elif host.meters.order in LOOPBACK:
        yield from describe_shared(host.meter_report)


def describe_sides(meter_report: MeterReport) -> str:
    """Utilization of each side's own CPUs, with the network."""
    sides = {"host": meter_report.per_cpu, "driver": meter_report.beside}
    parts = (f"{side} {write_busy(cpus)}" for side, cpus in sides.items() if cpus)
    tier = bracket_tiers(*(figure for cpus in sides.values() for each in cpus.values() for figure in busy_parts(each)))
    return f"busy by CPU, the network included: {'; '.join(parts)}{tier}"


def write_busy(cpus: Mapping[str, Cpu]) -> str:
    used = {cpu: [figure.value for figure in busy_parts(shares)] for cpu, shares in cpus.items()}
    known = {cpu: [part for part in parts if part is not None] for cpu, parts in used.items() if None not in parts}
    return ", ".join(f"CPU {cpu} {sum(parts):.1f} %" for cpu, parts in known.items())


def busy_parts(cpu: Cpu) -> tuple[MeterFigure[float], ...]:
    return cpu.usr, cpu.sys, cpu.irq


def describe_shared(meter_report: MeterReport) -> Iterator[str]:
    """The network's CPU time that belongs to neither side alone."""
    network, cpus = meter_report.network, len(meter_report.per_cpu) + len(meter_report.beside)
    percent, own = network.percent.value, network.in_subject.value
    if percent is None:
        return
    machine = f"% of the machine's {many(cpus, 'CPU')}"
    if own is None:
        yield f"network, shared: at most {percent:.1f} {machine} (all soft interrupts, by clock ticks)"
        return
    inside = 100 * own / (meter_report.seconds * cpus)
    low, high = network.interval.value or (percent, percent)
    if not percent:
        of_cpus = f"of the machine's {many(cpus, 'CPU')}{bracket_tiers(network.percent)}"
        yield f"network, shared: no sample met it: {upper_bound(high)} {of_cpus}"
        return
    within = f" [{interval(low, high)}]" if low < high else ""
    error = (high - low) / 4
    yield (
        f"network, shared: {units.percent(percent, error)}{within} {machine} "
        f"({network.percent.tier}); {units.percent(inside, error)} of it stands "
        "in the host's CPU time, the rest in the driver's or another's"
    )


def describe_certainty(host: HostFigures) -> Iterator[str]:
    if host.meters is None or host.cpu is None:
        return
    order, because = host.meters.order, host.meters.honesty
    yield f"CPU figures: {CERTAINTY[order]} (level {order} of 4), because {because}" if order else because
    if host.meters.accounting in SOURCES and not loses_work(host):
        yield f"its CPU time: {SOURCES[host.meters.accounting]}"
    closure = host.meter_report and host.meter_report.closure
    if closure and closure.accounted.value is not None and closure.closes:
        yield describe_closure(closure)


def warn_of_lost_time(host: HostFigures) -> Iterator[str]:
    """Which CPU time the source of the host's CPU time cannot see."""
    if host.meters and host.cpu and loses_work(host):
        yield f"at least: its CPU time is {SOURCES[host.meters.accounting or '']}"


def loses_work(host: HostFigures) -> bool:
    return host.meters is not None and host.meters.accounting in LOSING


LOSING = ("parents", "exit_records_by_parent")
"""Sources without processes that left their parents or, for the first, that no parent waited for."""
CERTAINTY = {1: "most certain", 2: "quite certain", 3: "less certain", 4: "least certain"}
"""Attribution levels of CPU figures (docs/meters.md)."""


def list_programs(host: HostFigures) -> Iterator[str]:
    for target, users in host.programs.items():
        yield f"{target}: started by the driver, for each of {many(users, 'user')}"


def describe_built_in(host: BuiltInHost) -> Iterator[str]:
    yield (
        f"built-in, by its own meters: {many(host.lines, 'line')}; took {write_rate(host.served_per_s)}, "
        f"answered {write_rate(host.answered_per_s)}; process CPU {share(host.cpu)} of a core"
    )
    if host.busy is not None:
        yield f"{many(host.servers, 'server')} {share(host.busy)} busy, {digits(host.queue or 0.0)} messages waiting"
    yield f"buffer pool: at most {count(host.pool_used)} of {count(host.pool_size)} characters used since it started"
