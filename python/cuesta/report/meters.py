"""Sheets of meters for a terminal of 80 columns.

A figure that could not be had is `—`, with the reason below; it is never a zero.
"""

import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any

from cuesta import units
from cuesta.ledger.meters import Sheet
from cuesta.report import off_cpu
from cuesta.report.cells import Figure, duration, in_brackets, number, per_s, percent, tiered, whole
from cuesta.report.layout import in_columns
from cuesta.report.phrases import plain
from cuesta.units import ABSENT, between, count, digits, seconds, seconds_within, under

MARGIN = 10
SAR = ("usr", "sys", "irq", "iowait", "steal", "idle", "load")

COUNTS = {
    "minor_faults": "page faults, minor",
    "major_faults": "page faults, major",
    "switches": "context switches",
    "voluntary_switches": "  because it waited",
    "involuntary_switches": "  because it was turned out",
    "wakeups": "wake-ups",
    "interrupts": "interrupts, hard",
    "softirqs": "interrupts, soft",
    "forks": "forks and threads",
    "execs": "programs loaded",
    "system_calls": "system calls",
    "ios": "block-device I/Os",
}

IDLE = {
    "zero": ("zero idle", "no task to run, none that ran there waits for a device"),
    "io_wait": ("I/O-wait idle", "no task to run, one that ran there waits for a device"),
    "throttled": ("throttled", "the subject was barred by its quota; may lie in idle"),
    "queued_elsewhere": ("queued elsewhere", "idle while tasks waited for another CPU: at most this"),
    "page_wait": ("page-wait idle", "idle while a task of the subject waited for a page"),
    "loading": ("loading idle", "idle while a program of the subject was being loaded"),
    "quota_wait": ("throttled idle", "idle while the subject was barred by its quota"),
}
TRACED_IDLE = {
    "zero": "idle while the subject waited for none of these",
    "io_wait": "idle while a task of the subject waited for a device",
}
"""What two kinds of idle are where the exact tier tells them apart."""
TRACED_ONLY = ("page_wait", "loading", "quota_wait")
"""Kinds that only the exact tier knows."""

TRAFFIC = {
    "running": ("running", "tasks, mean"),
    "ready": ("ready, not running", "tasks, mean (run-queue delay ÷ elapsed)"),
    "in_io": ("waiting for a device", "tasks, mean (block-I/O delay ÷ elapsed)"),
    "load_average": ("load average, 1 min", "the kernel's exponential mean"),
}


SOURCES = {
    "control_group": "by the account of its control group",
    "exit_records": "by its processes' own accounts, and the last ones of those that ended; detached ones are followed",
    "exit_records_by_parent": "by its processes' accounts and their last ones; those that left their parents are lost",
    "parents": "by its processes' accounts; processes that nobody waited for, or that left their parents, are lost",
    "tracer": "traced in the kernel, from birth to end",
}
"""How the subject's CPU time is taken, and what that loses."""


def closing(closure: Mapping[str, Any]) -> str:
    """Say what was measured apart, and by how much it misses the CPUs' time."""
    accounted = closure["accounted"]["value"]
    verdict = "it closes" if closure["closes"] else "IT DOES NOT CLOSE: shares of CPU are that uncertain"
    parts = ", ".join(f"{plain(name)} {share:.1f}" for name, share in closure.get("parts", {}).items() if share >= 0.05)
    said = f"measured apart, {parts} add up to" if parts else "uses, idle and steal add up to"
    allowed = f" (within {closure['tolerance']:.1f}" if closure.get("tolerance") else ""
    below = f", and {closure['interrupts']:.1f} of interrupts" if closure.get("interrupts", 0.0) >= 0.05 else ""
    return f"{said} {accounted:.1f} % of the CPUs' time{allowed}{below}{')' if allowed else ''}: {verdict}"


def text(sheet: Sheet) -> str:
    out: list[str] = []
    for title, rows in sections(sheet):
        said = list(rows)
        if said:
            out += [f"{(title if not number else ''):<{MARGIN}}{each}".rstrip() for number, each in enumerate(said)] + [
                ""
            ]
    return "\n".join(out).rstrip()


def sections(sheet: Sheet) -> Iterator[tuple[str, Iterable[str]]]:
    yield "METERS", about(sheet)
    yield "CPU", cpu(sheet)
    yield "SUBJECT", own(sheet)
    yield "CAUSES", causes(sheet)
    yield "IDLE", idle(sheet)
    yield "TIME", total_time(sheet)
    yield "TRAFFIC", traffic(sheet)
    yield "OFF CPU", off_cpus(sheet)
    yield "COUNTS", counts(sheet)
    yield "DEVICES", devices(sheet)
    yield "STALL", pressure(sheet)
    yield "MISSING", missing(sheet)
    yield "NOTES", map(plain, sheet["notes"])


def about(sheet: Sheet) -> Iterator[str]:
    until = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(sheet["wall"] / 1e9))
    yield f"{plain(sheet['subject'])}, for {long(sheet['seconds'])} until {until}; {cpus_of(sheet)}"
    if said := SOURCES.get(sheet["own"].get("source", "")):
        yield from textwrap.wrap(f"its CPU time: {said}", 84)
    if doubt := sheet["own"].get("doubt"):
        yield from textwrap.wrap(f"DOUBTFUL: {plain(doubt)}", 84)
    if "value" in sheet["closure"]["accounted"]:
        cost = sheet["cost"].get("value")
        reading = f"; reading took {seconds(cost)}" if cost else ""
        yield from textwrap.wrap(closing(sheet["closure"]) + reading, 84)


def cpus_of(sheet: Sheet) -> str:
    cpus = sheet["cpus"]
    return f"percent of {len(cpus)} CPU{'s' * (len(cpus) != 1)}"


def cpu(sheet: Sheet) -> Iterator[str]:
    yield tiered(aligned("", [f"%{name}" for name in SAR]), *(sheet["cpu"][name] for name in SAR))
    yield aligned("all", [percent(sheet["cpu"][name]) for name in SAR])
    if len(sheet["per_cpu"]) > 1:
        for number_, each in sheet["per_cpu"].items():
            yield aligned(f"cpu{number_}", [percent(each[name]) for name in SAR])


def own(sheet: Sheet) -> Iterator[str]:
    part = sheet["own"]
    if why := ended(sheet):
        yield f"no meter data: {plain(why)}"
    if "value" not in part["others"]:
        return
    by_ticks = " (split by ticks)" if part["usr"].get("tier") == "plain" else ""
    split = f"usr {percent(part['usr'])}, sys {percent(part['sys'])}{by_ticks}"
    yield tiered(f"CPU {duration(part['seconds'])}, {percent(part['percent'])} %: {split}", part["seconds"])
    if "value" in part.get("irq", {}):
        beside = f"others {percent(part['others'])} %, interrupts beside both {percent(part['irq'])} %"
    else:
        beside = f"others and interrupts {percent(part['others'])} %"
    yield tiered(f"on its CPUs {beside}", part["others"])
    process = "process" if part["processes"].get("value") == 1 else "processes"
    thread = "thread" if part["tasks"].get("value") == 1 else "threads"
    yield f"{whole(part['processes'])} {process}, {whole(part['tasks'])} {thread}"


def ended(sheet: Sheet) -> str | None:
    """Why there is nothing of a subject that is gone; the CPUs' figures are then others'."""
    why: str | None = sheet["own"]["seconds"].get("why")
    return why


def causes(sheet: Sheet) -> Iterator[str]:
    by_cause = sheet["by_cause"].get("value")
    if not by_cause:
        return
    yield in_columns("", 16, ("%", "95 % interval", "seconds", "count", "each"), OF_CAUSES)
    for name, cause in sorted(by_cause["causes"].items(), key=lambda each: -(each[1]["percent"].get("value") or 0.0)):
        counted = cause["count"].get("value")
        number_ = ABSENT if counted is None else count(counted)
        cells = share(cause), interval(cause), of_share(cause, "seconds"), number_, of_share(cause, "average")
        yield f"{in_columns(plain(name), 16, cells, OF_CAUSES)}  {cause['percent'].get('tier', '')}"
    bound = by_cause.get("bound", {}).get("value")
    if bound is not None and by_cause.get("unmet"):
        names = ", ".join(map(plain, by_cause["unmet"]))
        yield from textwrap.wrap(f"no sample met {names}: each {under(bound)}", 84)
    if not by_cause["about"]:
        return  # traced, not sampled
    samples = by_cause["about"]["samples"].get("value", 0.0)
    yield f"not classified: {round(by_cause['unclassified'] * samples / 100)} of {count(samples)} samples"
    yield from textwrap.wrap(overhead(sheet, by_cause["about"]), 84)


OF_CAUSES = (7, 15, 10, 12, 10)
"""Widths of the columns of causes."""


def share(cause: Mapping[str, Any]) -> str:
    """Write the percentage of a cause, in no more digits than its standard error leaves."""
    value = cause["percent"].get("value")
    return ABSENT if value is None else units.percent(value, error_of(cause))


def error_of(cause: Mapping[str, Any]) -> float | None:
    """Give the standard error of a percentage; None of what was traced."""
    error: float | None = cause.get("standard_error", {}).get("value")
    return error


def interval(cause: Mapping[str, Any]) -> str:
    limits = cause.get("interval", {}).get("value")
    return between(*limits) if limits else ""


def of_share(cause: Mapping[str, Any], name: str) -> str:
    """Write a duration that goes with the percentage of its cause, in as many digits."""
    value, whole, error = cause[name].get("value"), cause["percent"].get("value"), error_of(cause)
    if not value or not whole or error is None:
        return duration(cause[name])
    return seconds_within(value, value * error / whole)


SAMPLERS_OWN = ("interrupts_seconds", "reader_seconds")
"""What sampling itself took: in the kernel and in the process that reads."""


def overhead(sheet: Sheet, of: Mapping[str, Figure]) -> str:
    took = sum(of.get(name, {}).get("value") or 0.0 for name in SAMPLERS_OWN)
    capacity = sheet["seconds"] * len(sheet["cpus"])
    said = [f"overhead {seconds(took)}" + (f", {100 * took / capacity:.2f} % of the CPUs' time" if capacity else "")]
    said += [of_sampling(name, figure) for name, figure in of.items()]
    return "; ".join(said)


def of_sampling(name: str, figure: Figure) -> str:
    """Write a figure of the sampler in the unit that its name ends with; the others are counts."""
    label, _, unit = name.rpartition("_")
    if unit == "seconds":
        written = duration(figure)
    elif unit == "percent":
        written = f"{percent(figure)} %"
    else:
        label, written = name, number(figure) if name == "coverage" else whole(figure)
    return f"{plain(label).replace('_', ' ')} {written}"


def idle(sheet: Sheet) -> Iterator[str]:
    for name, (label, meaning) in IDLE.items():
        figure = sheet["idle"].get(name, {})
        tier = figure.get("tier", "")
        if tier or name not in TRACED_ONLY:
            meant = TRACED_IDLE.get(name, meaning) if tier == "exact" else meaning
            yield f"{label:<17}{percent(figure):>6} %  {tier:<7}{meant}"
    quota = sheet["idle"]["quota"].get("value")
    if quota is not None:
        yield f"the quota is {quota:g} CPUs"


def total_time(sheet: Sheet) -> Iterator[str]:
    """Say where the time went, as total_time_meters did."""
    if why := ended(sheet):
        yield f"no meter data: {plain(why)}"
        return
    widths = (8, 8, 10)
    yield f"{in_columns('', 24, ('%', '%NI', 'AVE'), widths)}   %NI: of non-idle; AVE: of each"
    sampled = sheet["by_cause"].get("value", {}).get("causes", {})
    for each in sheet["total_time"]:
        cause = sampled.get(each["name"].replace(" ", "_"), {})
        average = of_share(cause, "average") if cause else duration(each["average"])
        cells = in_time(each, "percent", cause), in_time(each, "of_non_idle", cause), average
        yield f"{in_columns(each['name'], 24, cells, widths)}  {each['percent'].get('tier', '')}"


def in_time(row: Mapping[str, Any], column: str, cause: Mapping[str, Any]) -> str:
    """Write a percentage of TIME; of a cause in as many digits as in CAUSES."""
    value, whole, error = row[column].get("value"), row["percent"].get("value"), error_of(cause)
    if not value or not whole or error is None:
        return percent(row[column])
    return units.percent(value, value * error / whole)


def traffic(sheet: Sheet) -> Iterator[str]:
    """Give the queues for the CPU, as traffic_control_meters did."""
    of = sheet["traffic"]
    for name, (label, meaning) in TRAFFIC.items():
        yield tiered(f"{label:<24}{number(of[name]):>8}  {meaning}", of[name])
    dispatches = f"of each of {per_s(of['dispatches'])} dispatches a second"
    yield tiered(f"{'ready delay':<24}{duration(of['ready_delay']):>8}  {dispatches}", of["ready_delay"])
    if "value" in of.get("page_waits", {}):
        waits = f"of each of {per_s(of['page_waits'])} page faults a second that waited"
        yield tiered(f"{'page wait':<24}{duration(of['page_wait']):>8}  {waits}", of["page_waits"])


def off_cpus(sheet: Sheet) -> Iterator[str]:
    """Give how long the subject's tasks were off their CPUs, by why, and in run queues."""
    found = list(off_cpu.rows(sheet))
    if found:
        widths = (10, 9, 9, 9, 9, 9)
        yield f"{in_columns('', 20, off_cpu.HEADS, widths)}  exact"
        yield from (in_columns(label, 20, cells, widths) for label, *cells in found)
        yield from textwrap.wrap(off_cpu.ABOUT, 84)


def counts(sheet: Sheet) -> Iterator[str]:
    of_machine = sheet["counts"]["of_machine"]
    widths = (12, 11)
    yield in_columns("", 28, ("count", "a second"), widths)
    for name, label in COUNTS.items():
        counted = sheet["counts"][name].get("value")
        cells = (ABSENT, ABSENT) if counted is None else (count(counted["count"]), digits(counted["per_s"]))
        mark = " *" if name in of_machine and counted else ""
        tier = sheet["counts"][name].get("tier", "")
        yield f"{in_columns(label, 28, cells, widths)}{mark:<2}  {tier}".rstrip()
    if of_machine:
        yield "* of the whole machine: the kernel does not count it by subject"


def devices(sheet: Sheet) -> Iterator[str]:
    shown = active(sheet)
    if sheet["devices"] and not shown:
        yield f"{', '.join(map(plain, sheet['devices']))}: nothing read, nothing written"
    if not shown:
        return
    heads = ("reads", "writes", "ATB", "queue", "response", "service", "% busy", "errors")
    widths = (8, 8, 9, 7, 9, 9, 7, 7)
    yield tiered(in_columns("", 10, heads, widths), *(d["busy"] for d in shown.values()))
    for name, d in shown.items():
        counted = count(d["reads"]["count"]), count(d["writes"]["count"])
        times = duration(d["atb"]), number(d["queue"]), duration(d["response"]), duration(d["service"])
        cells = (*counted, *times, percent(d["busy"]), whole(d["errors"]))
        yield in_columns(plain(name), 10, cells, widths)
    yield "ATB: average time between; % busy: of that one device, with at least one request"


OF_DEVICES = ("atb", "queue", "response", "service", "busy", "errors")


def active(sheet: Sheet) -> Mapping[str, Any]:
    return {name: d for name, d in sheet["devices"].items() if d["reads"]["count"] + d["writes"]["count"]}


def pressure(sheet: Sheet) -> Iterator[str]:
    some = {name: figure for name, figure in sheet["pressure"].items() if "value" in figure}
    if some:
        shares = ", ".join(f"{name.replace('_', ' ')} {percent(figure)} %" for name, figure in some.items())
        yield shares + in_brackets(*some.values())


def missing(sheet: Sheet) -> Iterator[str]:
    """Say what is not metered, once for each reason."""
    reasons: dict[str, list[str]] = {}
    for name, why in unmetered(sheet):
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        yield from textwrap.wrap(f"{', '.join(names)}:", 84)
        yield f"  {plain(why)}"


def unmetered(sheet: Sheet) -> Iterator[tuple[str, str]]:
    """Give the figures that are missing although they might be expected, each with its reason."""
    places = [("CPU", sheet["cpu"]["idle"])]
    places += [(label.strip(), sheet["counts"][name]) for name, label in COUNTS.items()]
    places += [(label, sheet["idle"].get(name, {})) for name, (label, _) in IDLE.items()]
    places += [(label, sheet["traffic"][name]) for name, (label, _) in TRAFFIC.items()]
    places += [("ready delay", sheet["traffic"]["ready_delay"]), ("CPU by cause", sheet["by_cause"])]
    places += [("page wait", sheet["traffic"].get("page_wait", {}))]
    places += [("off-CPU times", sheet["traffic"].get("off_cpu", {}))]
    places += [(f"stall: {name.replace('_', ' ')}", figure) for name, figure in sheet["pressure"].items()]
    if not ended(sheet):  # what has no average in TIME has no count in CAUSES either
        places += [(f"time of {each['name']}", each["percent"]) for each in sheet["total_time"]]
        places += [(f"AVE of {each['name']}", each["average"]) for each in sheet["total_time"]]
    places += [(f"{plain(name)}'s {kind}", d[kind]) for name, d in active(sheet).items() for kind in OF_DEVICES]
    yield from ((name, figure["why"]) for name, figure in places if "why" in figure)


def aligned(label: str, cells: Iterable[str]) -> str:
    return in_columns(label, 8, cells, repeat(8))


def long(value: float) -> str:
    if value < 120:
        return f"{value:.2f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
