"""Parts a, b and c of MPL-17's form: the CPUs' time by use, the subject's by cause, and its faults.

Parts a and b are tables of rows: key, names, how the figure is taken from a run and a phase, and its formula. A row's
figure is the mean over the runs that count. Rows that the form of 1969 did not have (others, the hypervisor) follow
its own, so that every column still adds up. Programs use a row's key; its number on the form follows from the order.
Intervals cover the sampling error within one run; how much runs differ is seen only over several runs.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cuesta.analysis.certify.certification_run import SCRIPT_PHASES, CertificationRun
from cuesta.analysis.certify.extra_runs import ExtraRuns
from cuesta.ledger.record import Absence, FormRow, RecordFigure, is_numbered

Take = Callable[[CertificationRun, str], RecordFigure]
"""Takes a figure from a run and a phase."""
Rows = Mapping[str, FormRow]
"""Rows of a part by key."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of faults of MPL-17, and its equivalent today."""

    key: str
    name: str
    """MPL-17's word."""
    time_name: str
    """Name of the row with its CPU time in part b."""
    today: str
    """Today's word."""
    causes: tuple[str, ...]
    """The causes of CPU time that belong to it."""
    formula: str
    """The causes in words."""
    counted: tuple[str, ...]
    """What is counted: `counts` of a meter report where timed runs count it, else causes."""
    counted_by: Literal["timed", "interrupts", "traced", "linkage"]
    """The runs that count it: `HOW_COUNTED`."""

    def row_label(self, what: str) -> str:
        return f"{self.name} ({self.today}): {what}" if self.today else f"{self.name}: {what}"


FAULT_KINDS = (
    FaultKind(
        key="page",
        name="missing page",
        time_name="Missing page fault time",
        today="page faults",
        causes=("page_faults",),
        formula="page_faults",
        counted=("minor_faults", "major_faults"),
        counted_by="timed",
    ),
    FaultKind(
        key="segment",
        name="missing segment",
        time_name="Missing segment fault time",
        today="open, map",
        causes=("mapping",),
        formula="mapping (open, close, mmap, munmap, mprotect, mremap)",
        counted=("mapping",),
        counted_by="traced",
    ),
    FaultKind(
        key="linkage",
        name="linkage",
        time_name="Linkage fault time",
        today="dynamic linker",
        causes=("linking",),
        formula="linking (the dynamic linker's own instructions)",
        counted=(),
        counted_by="linkage",
    ),
    FaultKind(
        key="wall_crossing",
        name="wall crossing",
        time_name="Wall crossing fault time",
        today="system calls",
        causes=("system_calls",),
        formula="system_calls that are neither mapping nor loading",
        counted=("system_calls",),
        counted_by="traced",
    ),
    FaultKind(
        key="interrupt",
        name="interrupt",
        time_name="Interrupt handling time",
        today="",
        causes=("softirq", "interrupts"),
        formula="softirq + interrupts, hard ones",
        counted=("softirq", "interrupts"),
        counted_by="interrupts",
    ),
)
HOW_COUNTED = {
    "timed": "counted in the timed runs",
    "interrupts": "counted by the tracer, in the timed runs",
    "traced": "counted by the tracer, in the extra run that traces system calls",
    "linkage": "references bound by name, as the dynamic linkers report in the extra run that asks them",
}
LOADING, NON_FAULT = "loading", "user"
"""Causes that are no faults."""
NAMED_CAUSES = {LOADING, NON_FAULT, *(cause for kind in FAULT_KINDS for cause in kind.causes)}


def subject_time(run: CertificationRun, phase: str) -> RecordFigure:
    """The subject's CPU time less loading, as far as causes are known."""
    own, loading = run.cpu(phase), run.cause(phase, LOADING)
    is_known = own.value is not None and loading.value is not None
    return sum_figures([own, scale_figure(loading, -1)]) if is_known else own


def true_idle(run: CertificationRun, phase: str) -> RecordFigure:
    """Idle time in which no quota kept the subject from running."""
    idle, throttled = run.other_use(phase, "idle"), run.other_use(phase, "throttled")
    if idle.value is None or throttled.value is None:
        return idle
    return RecordFigure(value=idle.value - min(throttled.value, idle.value))


def quota_idle(run: CertificationRun, phase: str) -> RecordFigure:
    """Idle time in which a quota kept the subject from running; at most all idle time."""
    idle, throttled = run.other_use(phase, "idle"), run.other_use(phase, "throttled")
    return (
        throttled
        if idle.value is None or throttled.value is None
        else RecordFigure(value=min(throttled.value, idle.value))
    )


def kernel_thread_time(run: CertificationRun, phase: str) -> RecordFigure:
    """CPU time of kernel threads: a cause where the whole machine is the subject, else a part of others."""
    if run.meters_whole_machine:
        return run.cause(phase, "kernel_threads")
    threads, all_others = run.kernel_threads(phase), run.other_use(phase, "others")
    if threads.value is None or all_others.value is None:
        return threads
    return RecordFigure(value=min(threads.value, all_others.value))


def used_by_others(run: CertificationRun, phase: str) -> RecordFigure:
    """CPU time of others without kernel threads, which have a row of their own."""
    all_others, threads = run.other_use(phase, "others"), kernel_thread_time(run, phase)
    if all_others.value is None or threads.value is None or run.meters_whole_machine:
        return all_others
    return RecordFigure(value=all_others.value - threads.value)


def other_causes(run: CertificationRun, phase: str) -> RecordFigure:
    account = run.accounts.get(phase)
    return run.cause(phase, *(name for name in account.causes if name not in NAMED_CAUSES) if account else ())


def take_use(name: str) -> Take:
    return lambda run, phase: run.other_use(phase, name)


def take_causes(*names: str) -> Take:
    return lambda run, phase: run.cause(phase, *names)


@dataclass(frozen=True, slots=True)
class CpuRow:
    """A row of CPU time. In a formula `{a[KEY]}` stands for the number of a row: `a.2`."""

    key: str
    name: str
    """MPL-17's words."""
    today: str
    """Today's, where they differ."""
    take: Take
    """A function of run and phase, or a method of `CertificationRun` that takes the phase."""
    formula: str


PART_A = (
    CpuRow(
        "subject",
        "Time used by subject processes",
        "",
        subject_time,
        "cgroup or process accounting of the subject − {a[loading]}",
    ),
    CpuRow("loading", "Time spent loading processes", "", take_causes(LOADING), "cause loading"),
    CpuRow(
        "daemon",
        "Time spent in file system daemon",
        "kernel threads",
        kernel_thread_time,
        "the kernel's threads, all of them",
    ),
    CpuRow(
        "eligibility_idle",
        "Idle time due to eligibility control",
        "quota",
        quota_idle,
        "idle while barred by a quota of CPU time",
    ),
    CpuRow(
        "page_wait_idle",
        "Idle time during page waits",
        "and devices",
        take_use("iowait"),
        "idle with a wait for a page or a device, approximate",
    ),
    CpuRow("true_idle", "True idle time", "", true_idle, "idle without such a wait, − {a[eligibility_idle]}"),
    CpuRow("others", "Used by others", "", used_by_others, "the driver, the meters and other processes"),
    CpuRow("steal", "Taken by the hypervisor", "", take_use("steal"), "steal"),
    CpuRow(
        "unaccounted",
        "In no account",
        "",
        take_use("unaccounted"),
        "total − all above: interrupts of idle CPUs, what clocks miss",
    ),
    CpuRow("total", "Total CPU time charged", "", CertificationRun.total, "CPUs × length of the phase"),
)
PART_B = (
    *(CpuRow(kind.key, kind.time_name, kind.today, take_causes(*kind.causes), kind.formula) for kind in FAULT_KINDS),
    CpuRow("non_fault", "Non-fault time", "user", take_causes(NON_FAULT), "user, but for the dynamic linker"),
    CpuRow("loading", "Loading processes", "", take_causes(LOADING), "fork, exec, exit: {a[loading]}"),
    CpuRow("other", "Other and not classified", "", other_causes, "the remaining causes"),
    CpuRow("total", "Total", "", CertificationRun.cpu, "CPU time of the subject: {a[subject]} + {a[loading]}"),
)


def number_rows(part: str, keys: Iterable[str]) -> dict[str, str]:
    return {key: f"{part}.{number}" for number, key in enumerate(filter(is_numbered, keys), 1)}


NUMBERS_A, NUMBERS_B = (number_rows(part, (row.key for row in rows)) for part, rows in (("a", PART_A), ("b", PART_B)))


def time_row(row: CpuRow, runs: Sequence[CertificationRun]) -> FormRow:
    """A row of part a or b: means over runs of both phases, and their sum."""
    creation, command = (mean_figure([row.take(run, phase) for run in runs]) for phase in SCRIPT_PHASES)
    return FormRow(
        key=row.key,
        name=row.name,
        today=row.today,
        label=f"{row.name} ({row.today})" if row.today else row.name,
        unit="s",
        creation=creation,
        command=command,
        total=both_phases(runs, creation, command),
        formula=row.formula.format(a=NUMBERS_A),
    )


def fault_rows(runs: Sequence[CertificationRun], b: Mapping[str, FormRow], extra: ExtraRuns) -> Iterator[FormRow]:
    """Make part c: the average time of each kind of fault, and their number.

    An average is a ratio of means: part b's mean CPU time ÷ the mean number, both over the runs that count. So
    `page.average` is the CPU time of a page fault in a phase, minor or major; the time that a task waits off its CPU is
    the meters' `traffic.page_wait`.
    """
    for kind in FAULT_KINDS:
        number = number_row(kind, runs, extra)
        averages = {
            at: divide_figures(getattr(b[kind.key], at), getattr(number, at)) for at in (*SCRIPT_PHASES, "total")
        }
        yield FormRow(
            key=f"{kind.key}.average",
            name=f"{kind.name}: average",
            today=kind.today,
            label=kind.row_label("average"),
            unit="s",
            formula="b ÷ number",
            **averages,
        )
        yield number


def number_row(kind: FaultKind, runs: Sequence[CertificationRun], extra: ExtraRuns) -> FormRow:
    """The row with a kind's number. If the phases have none, the whole run's meter report may estimate the total."""
    creation, command = (number_in(kind, phase, runs, extra) for phase in SCRIPT_PHASES)
    total = both_phases(runs, creation, command)
    estimated = mean_figure([run.count_in_whole_run(*kind.causes) for run in runs])
    return FormRow(
        key=f"{kind.key}.number",
        name=f"{kind.name}: number",
        today=kind.today,
        label=kind.row_label("number"),
        unit="number",
        creation=creation,
        command=command,
        total=estimated if total.value is None and estimated.value is not None else total,
        formula=f"{HOW_COUNTED[kind.counted_by]}; else, in total alone, estimated by the meter report of the run",
    )


def number_in(kind: FaultKind, phase: str, runs: Sequence[CertificationRun], extra: ExtraRuns) -> RecordFigure:
    match kind.counted_by:
        case "timed":
            return mean_figure([run.number(phase, *kind.counted) for run in runs])
        case "interrupts":
            timed = mean_figure([run.occurrences(phase, *kind.counted) for run in runs])
            return timed if timed.value is not None else extra.calls(phase, *kind.counted)
        case "traced":
            return extra.calls(phase, *kind.counted)
        case "linkage":
            return extra.symbols(phase)


def both_phases(runs: Sequence[CertificationRun], creation: RecordFigure, command: RecordFigure) -> RecordFigure:
    """The sum of the phases; a benchmark has only the command phase."""
    benchmark = all("creation" not in run.accounts and "command" in run.accounts for run in runs)
    return command if benchmark else add_figures(creation, command)


def sum_figures(figures: Iterable[RecordFigure], divisor: float = 1.0) -> RecordFigure:
    """The sum of known, independent figures, divided: distances from the value add up in quadrature."""
    known = list(figures)
    value = sum(figure.value or 0.0 for figure in known) / divisor
    uncertain = [figure for figure in known if figure.high is not None]
    if not uncertain:
        return RecordFigure(value=value)
    down = math.hypot(*((figure.value or 0.0) - (figure.low or 0.0) for figure in uncertain)) / divisor
    up = math.hypot(*((figure.high or 0.0) - (figure.value or 0.0) for figure in uncertain)) / divisor
    error = math.hypot(*(figure.standard_error or 0.0 for figure in uncertain)) / divisor
    return RecordFigure(value=value, standard_error=error, low=value - down, high=value + up)


def scale_figure(one: RecordFigure, factor: float) -> RecordFigure:
    if one.value is None or one.low is None or one.high is None:
        return RecordFigure(value=None if one.value is None else one.value * factor)
    low, high = sorted((one.low * factor, one.high * factor))
    error = None if one.standard_error is None else one.standard_error * abs(factor)
    return RecordFigure(value=one.value * factor, standard_error=error, low=low, high=high)


def mean_figure(figures: Sequence[RecordFigure]) -> RecordFigure:
    """The mean over runs, or why a run lacks the figure."""
    if not figures:
        return RecordFigure(why="no run counts", absence=Absence.NO_RUN)
    missing = next((figure for figure in figures if figure.value is None), None)
    return missing or sum_figures(figures, len(figures))


def add_figures(one: RecordFigure, other: RecordFigure) -> RecordFigure:
    if one.value is None or other.value is None:
        return one if one.value is None else other
    return sum_figures([one, other])


def divide_figures(one: RecordFigure, other: RecordFigure) -> RecordFigure:
    if one.value is None or other.value is None:
        return one if one.value is None else other
    if not other.value:
        return RecordFigure(why="there were none", absence=Absence.NO_EVENT)
    return scale_figure(one, 1 / other.value)
