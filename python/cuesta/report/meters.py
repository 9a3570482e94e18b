"""A report of the meters as text for a terminal of 80 columns.

A figure that could not be had is `—`, with the reason below; it is never a zero.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from cuesta import units
from cuesta.columns import align_left, in_columns, wrap_text
from cuesta.plain_text import plain
from cuesta.records.meter_figure import UNRECORDED, MeterFigure
from cuesta.records.meter_report import CauseRow, Closure, Count, Cpu, Device, MeterReport, TimeRow
from cuesta.records.schema import fields
from cuesta.report import off_cpu
from cuesta.report.cells import bracket_tiers, duration, name_cause, number, per_s, percent, tiered, whole
from cuesta.report.meter_limits import limit_rows
from cuesta.units import ABSENT, count, digits, interval, many, seconds, seconds_within, upper_bound

MARGIN, WIDTH = 10, 84
"""Columns of titles, and of the rows beside them."""
SAR = ("usr", "sys", "irq", "iowait", "steal", "idle", "load")

COUNTS = {name: field for name, field in fields("Counts").items() if field.unit == "events"}
IDLE = {name: field for name, field in fields("Idle").items() if field.unit == "percent"}
TRACED_IDLE = {
    "zero": "idle while the subject waited for none of these",
    "io_wait": "idle while a task of the subject waited for a device",
}
"""The labels of two kinds of idle in the traced tier, which separates them."""
TRAFFIC = {name: fields("Traffic")[name] for name in ("running", "ready", "in_io", "load_average")}


SOURCES = {
    "control_group": "by the account of its control group",
    "exit_records": "by its processes' accounts and their last ones (each lacks up to a tick); detached ones count",
    "exit_records_by_parent": "by its processes' accounts and their last ones; those that left their parents are lost",
    "parents": "by its processes' accounts; processes that no parent waited for, or that left their parents, are lost",
    "tracer": "traced in the kernel, from birth to end",
}
"""The source of the subject's CPU time, and what it cannot see."""


def describe_closure(closure: Closure) -> str:
    """The separately measured parts of the CPUs' time, and the error of their sum."""
    accounted = closure.accounted.value or 0.0
    verdict = "consistent" if closure.closes else "INCONSISTENT: CPU shares are uncertain by as much"
    parts = ", ".join(f"{plain(name)} {share:.1f}" for name, share in closure.parts.items() if share >= 0.05)
    sentence = f"measured apart, {parts} add up to" if parts else "uses, idle and steal add up to"
    allowed = f" (within {closure.tolerance:.1f}" if closure.tolerance > 0 else ""
    below = f", and {closure.interrupts:.1f} of interrupts" if closure.interrupts >= 0.05 else ""
    return f"{sentence} {accounted:.1f} % of the CPUs' time{allowed}{below}{')' if allowed else ''}: {verdict}"


def text(meter_report: MeterReport) -> str:
    out: list[str] = []
    for title, rows in sections(meter_report):
        margins = chain([title], repeat(""))
        section = [(align_left(margin, MARGIN) + row).rstrip() for margin, row in zip(margins, rows, strict=False)]
        out += [*section, ""] if section else []
    return "\n".join(out).rstrip()


def sections(meter_report: MeterReport) -> Iterator[tuple[str, Iterable[str]]]:
    yield "METERS", about_rows(meter_report)
    yield "CPU", cpu_rows(meter_report)
    yield "SUBJECT", subject_rows(meter_report)
    yield "CAUSES", cause_rows(meter_report)
    yield "IDLE", idle_rows(meter_report)
    yield "TIME", time_rows(meter_report)
    yield "TRAFFIC", traffic_rows(meter_report)
    yield "OFF CPU", off_cpu_rows(meter_report)
    yield "COUNTS", count_rows(meter_report)
    yield "LIMITS", limit_rows(meter_report)
    yield "DEVICES", device_rows(meter_report)
    yield "NETWORK", interface_rows(meter_report)
    yield "STALL", pressure_rows(meter_report)
    yield "MISSING", list_missing(meter_report)
    yield "NOTES", map(plain, meter_report.notes)


def about_rows(meter_report: MeterReport) -> Iterator[str]:
    until = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(meter_report.wall / 1e9))
    length = write_length(meter_report.seconds)
    yield f"{plain(meter_report.subject)}, for {length} until {until}; percent of {many(len(meter_report.cpus), 'CPU')}"
    if source := SOURCES.get(meter_report.own.source):
        yield from wrap_text(f"its CPU time: {source}", WIDTH)
    if doubt := meter_report.own.doubt:
        yield from wrap_text(f"DOUBTFUL: {plain(doubt)}", WIDTH)
    if meter_report.closure.accounted.value is not None:
        cost = meter_report.cost.value
        reading = f"; reading took {seconds(cost)}" if cost else ""
        yield from wrap_text(describe_closure(meter_report.closure) + reading, WIDTH)


def cpu_rows(meter_report: MeterReport) -> Iterator[str]:
    yield tiered(align_row("", [f"%{name}" for name in SAR]), *cpu_shares(meter_report.cpu))
    yield align_row("all", map(percent, cpu_shares(meter_report.cpu)))
    if len(meter_report.per_cpu) > 1:
        for cpu, shares in meter_report.per_cpu.items():
            yield align_row(f"cpu{cpu}", map(percent, cpu_shares(shares)))


def cpu_shares(cpu: Cpu) -> Sequence[MeterFigure[float]]:
    return [getattr(cpu, name) for name in SAR]


def subject_rows(meter_report: MeterReport) -> Iterator[str]:
    part = meter_report.own
    if why := why_ended(meter_report):
        yield f"no meter data: {plain(why)}"
    if part.others.value is None:
        return
    by_ticks = " (split by ticks)" if part.usr.tier == "plain" else ""
    split = f"usr {percent(part.usr)}, sys {percent(part.sys)}{by_ticks}"
    yield tiered(f"CPU {duration(part.seconds)}, {percent(part.percent)} %: {split}", part.seconds)
    if part.irq.value is not None:
        beside = f"others {percent(part.others)} %, interrupts beside both {percent(part.irq)} %"
    else:
        beside = f"others and interrupts {percent(part.others)} %"
    yield tiered(f"on its CPUs {beside}", part.others)
    process = "process" if part.processes.value == 1 else "processes"
    thread = "thread" if part.tasks.value == 1 else "threads"
    yield f"{whole(part.processes)} {process}, {whole(part.tasks)} {thread}"


def why_ended(meter_report: MeterReport) -> str | None:
    """Why a subject that has ended has no figures: those of the CPUs are then other programs'."""
    return meter_report.own.seconds.why


def cause_rows(meter_report: MeterReport) -> Iterator[str]:
    by_cause = meter_report.by_cause.value
    if not by_cause:
        return
    yield in_columns("", 16, ("%", "95 % interval", "seconds", "count", "each"), OF_CAUSES)
    for name, cause in sorted(by_cause.causes.items(), key=lambda each: -(each[1].percent.value or 0.0)):
        counted = cause.count.value
        cells = (
            write_cause_share(cause),
            write_interval(cause),
            write_share_duration(cause, cause.seconds),
            ABSENT if counted is None else count(counted),
            write_share_duration(cause, cause.average),
        )
        yield f"{in_columns(name_cause(name), 16, cells, OF_CAUSES)}  {cause.percent.tier or ''}"
    bound = by_cause.bound.value
    if bound is not None and by_cause.unmet:
        names = ", ".join(map(name_cause, by_cause.unmet))
        yield from wrap_text(f"no sample met {names}: each {upper_bound(bound)}", WIDTH)
    if not by_cause.about:
        return  # traced, not sampled
    samples = by_cause.about["samples"].value or 0.0
    yield f"not classified: {round(by_cause.unclassified * samples / 100)} of {count(samples)} samples"
    yield from wrap_text(overhead(meter_report, by_cause.about), WIDTH)


OF_CAUSES = (7, 15, 10, 12, 10)
"""Widths of the columns of causes."""


def write_cause_share(cause: CauseRow) -> str:
    """The percentage of a cause with the digits that its standard error supports."""
    value = cause.percent.value
    return ABSENT if value is None else units.percent(value, cause.standard_error.value)


def write_interval(cause: CauseRow) -> str:
    limits = cause.interval.value
    return interval(*limits) if limits else ""


def write_share_duration(cause: CauseRow, figure: MeterFigure[float]) -> str:
    """A duration in as many digits as the percentage of its cause."""
    value, percentage, error = figure.value, cause.percent.value, cause.standard_error.value
    if not value or not percentage or error is None:
        return duration(figure)
    return seconds_within(value, value * error / percentage)


SAMPLERS_OWN = ("interrupts_seconds", "reader_seconds")
"""The cost of sampling: in the kernel and in the reader."""


SAMPLING = fields("Sampling")
OF_UNIT: dict[str, Callable[[MeterFigure[float]], str]] = {
    "percent": lambda figure: f"{percent(figure)} %",
    "seconds": duration,
    "number": whole,
}


def overhead(meter_report: MeterReport, figures: Mapping[str, MeterFigure[float]]) -> str:
    took = sum(figures[name].value or 0.0 for name in SAMPLERS_OWN if name in figures)
    capacity = meter_report.seconds * len(meter_report.cpus)
    parts = [f"overhead {seconds(took)}" + (f", {100 * took / capacity:.2f} % of the CPUs' time" if capacity else "")]
    parts += [write_sampling(name, figure) for name, figure in figures.items()]
    return "; ".join(parts)


def write_sampling(name: str, figure: MeterFigure[float]) -> str:
    field = SAMPLING.get(name)
    write = OF_UNIT.get(field.unit, number) if field else number
    return f"{plain(field.label if field else name)} {write(figure)}"


def idle_rows(meter_report: MeterReport) -> Iterator[str]:
    for name, field in IDLE.items():
        figure: MeterFigure[float] = getattr(meter_report.idle, name)
        tier = figure.tier or ""
        if tier or field.tier != "exact":
            meant = TRACED_IDLE.get(name, field.meaning) if tier == "exact" else field.meaning
            yield f"{field.label:<17}{percent(figure):>6} %  {tier:<7}{meant}"
    quota = meter_report.idle.quota.value
    if quota is not None:
        yield f"the quota is {quota:g} CPUs"


def time_rows(meter_report: MeterReport) -> Iterator[str]:
    """The use of CPU time, in the form of total_time_meters."""
    if why := why_ended(meter_report):
        yield f"no meter data: {plain(why)}"
        return
    widths = (8, 8, 10)
    yield f"{in_columns('', 24, ('%', '%NI', 'AVE'), widths)}   %NI: of non-idle; AVE: of each"
    causes = meter_report.by_cause.value.causes if meter_report.by_cause.value else {}
    for each in meter_report.total_time:
        cause = causes.get(each.name.replace(" ", "_"))
        average = write_share_duration(cause, cause.average) if cause else duration(each.average)
        cells = (
            write_time_percent(each, each.percent, cause),
            write_time_percent(each, each.of_non_idle, cause),
            average,
        )
        yield f"{in_columns(each.name, 24, cells, widths)}  {each.percent.tier or ''}"


def write_time_percent(row: TimeRow, figure: MeterFigure[float], cause: CauseRow | None) -> str:
    """A percentage of TIME; of a cause in as many digits as in CAUSES."""
    value, percentage, error = figure.value, row.percent.value, cause.standard_error.value if cause else None
    if not value or not percentage or error is None:
        return percent(figure)
    return units.percent(value, value * error / percentage)


def traffic_rows(meter_report: MeterReport) -> Iterator[str]:
    """Queues for the CPU, in the form of traffic_control_meters."""
    traffic_figures = meter_report.traffic
    for name, field in TRAFFIC.items():
        figure: MeterFigure[float] = getattr(traffic_figures, name)
        yield tiered(f"{field.label:<24}{number(figure):>8}  {field.meaning}", figure)
    dispatches = f"of each of {per_s(traffic_figures.dispatches)} dispatches a second"
    yield tiered(
        f"{'ready delay':<24}{duration(traffic_figures.ready_delay):>8}  {dispatches}", traffic_figures.ready_delay
    )
    if traffic_figures.page_waits.value:
        waits = f"of each of {per_s(traffic_figures.page_waits)} page faults a second that waited"
        yield tiered(f"{'page wait':<24}{duration(traffic_figures.page_wait):>8}  {waits}", traffic_figures.page_waits)


def off_cpu_rows(meter_report: MeterReport) -> Iterator[str]:
    """Durations of the subject's tasks off their CPUs, by reason, and in run queues."""
    rows = list(off_cpu.rows(meter_report))
    if rows:
        widths = (10, 9, 9, 9, 9, 9)
        yield f"{in_columns('', 20, off_cpu.HEADS, widths)}  exact"
        yield from (in_columns(label, 20, cells, widths) for label, *cells in rows)
        yield from wrap_text(off_cpu.ABOUT, WIDTH)


def count_rows(meter_report: MeterReport) -> Iterator[str]:
    of_machine = meter_report.counts.of_machine
    widths = (12, 11)
    yield in_columns("", 28, ("count", "a second"), widths)
    for name, field in COUNTS.items():
        figure: MeterFigure[Count] = getattr(meter_report.counts, name)
        counted = figure.value
        cells = (ABSENT, ABSENT) if counted is None else (count(counted.count), digits(counted.per_s))
        mark = " *" if name in of_machine and counted else ""
        yield f"{in_columns(field.label, 28, cells, widths)}{mark:<2}  {figure.tier or ''}".rstrip()
    if of_machine:
        yield "* of the whole machine: the kernel does not count it by subject"


def device_rows(meter_report: MeterReport) -> Iterator[str]:
    shown = active_devices(meter_report)
    if meter_report.devices and not shown:
        yield f"{', '.join(map(plain, meter_report.devices))}: nothing read, nothing written"
    if not shown:
        return
    heads = ("reads", "writes", "ATB", "queue", "response", "service", "% busy", "errors")
    widths = (8, 8, 9, 7, 9, 9, 7, 7)
    yield tiered(in_columns("", 10, heads, widths), *(d.busy for d in shown.values()))
    for name, d in shown.items():
        counted = count(d.reads.count), count(d.writes.count)
        times = duration(d.atb), number(d.queue), duration(d.response), duration(d.service)
        cells = (*counted, *times, percent(d.busy), whole(d.errors))
        yield in_columns(plain(name), 10, cells, widths)
    yield "ATB: average time between; % busy: of that one device, with at least one request"


def interface_rows(meter_report: MeterReport) -> Iterator[str]:
    in_use = {name: i for name, i in meter_report.interfaces.items() if i.received.count + i.sent.count}
    if not in_use:
        return
    heads = ("in/s", "out/s", "B/s in", "B/s out", "dropped", "% busy")
    widths = (8, 8, 11, 11, 9, 7)
    yield tiered(in_columns("", 16, heads, widths), *(i.busy for i in in_use.values()))
    for name, i in in_use.items():
        packets, byte_rates = (i.received.per_s, i.sent.per_s), (i.received_bytes_per_s, i.sent_bytes_per_s)
        cells = (*map(digits, packets), *map(digits, byte_rates), count(i.dropped.count), percent(i.busy))
        yield in_columns(plain(name), 16, cells, widths)
    yield "% busy: share of its speed, of the busier direction; virtual interfaces have no speed"


OF_DEVICES = ("atb", "queue", "response", "service", "busy", "errors")


def active_devices(meter_report: MeterReport) -> Mapping[str, Device]:
    return {name: d for name, d in meter_report.devices.items() if d.reads.count + d.writes.count}


def pressure_rows(meter_report: MeterReport) -> Iterator[str]:
    some = {name: figure for name, figure in meter_report.pressure.items() if figure.value is not None}
    if some:
        shares = ", ".join(f"{name.replace('_', ' ')} {percent(figure)} %" for name, figure in some.items())
        yield shares + bracket_tiers(*some.values())


def list_missing(meter_report: MeterReport) -> Iterator[str]:
    """Reasons of missing figures, with the figures."""
    reasons: dict[str, list[str]] = {}
    for name, why in list_unmetered(meter_report):
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        yield from wrap_text(f"{', '.join(names)}:", WIDTH)
        yield f"  {plain(why)}"


def list_unmetered(meter_report: MeterReport) -> Iterator[tuple[str, str]]:
    """Figures that are missing although they might be expected, each with its reason."""
    places: list[tuple[str, MeterFigure[Any]]] = [("CPU", meter_report.cpu.idle)]
    for table, figures in ((COUNTS, meter_report.counts), (IDLE, meter_report.idle), (TRAFFIC, meter_report.traffic)):
        places += [(field.label.strip(), getattr(figures, name)) for name, field in table.items()]
    places += [("ready delay", meter_report.traffic.ready_delay), ("CPU by cause", meter_report.by_cause)]
    places += [("page wait", meter_report.traffic.page_wait)]
    places += [("off-CPU times", meter_report.traffic.off_cpu)]
    places += [(f"stall: {name.replace('_', ' ')}", figure) for name, figure in meter_report.pressure.items()]
    if not why_ended(meter_report):  # what has no average in TIME has no count in CAUSES either
        places += [(f"time of {each.name}", each.percent) for each in meter_report.total_time]
        places += [(f"AVE of {each.name}", each.average) for each in meter_report.total_time]
    places += [
        (f"{plain(name)}'s {kind}", getattr(d, kind))
        for name, d in active_devices(meter_report).items()
        for kind in OF_DEVICES
    ]
    yield from ((name, figure.why) for name, figure in places if figure.why and figure.why != UNRECORDED)


def align_row(label: str, cells: Iterable[str]) -> str:
    return in_columns(label, 8, cells, repeat(8))


def write_length(value: float) -> str:
    if value < 120:
        return f"{value:.2f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
