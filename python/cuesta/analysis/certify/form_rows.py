"""MPL-17's part IV: CPU time and what it went into, numbers and times of each, and what a process sees of it.

What is averaged over runs is written with its formula. Rows that 1969 had no need of (others, the hypervisor) stand
behind its own, so that every column still adds up. Rows are known by their keys; where one stands is for the form.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cuesta.analysis.certify.extra_runs import ExtraRuns
from cuesta.analysis.certify.fault_kinds import HOW_COUNTED, KINDS, LOADING, NON_FAULT, Kind
from cuesta.analysis.certify.phase_figures import (
    Take,
    daemon,
    eligibility,
    of_causes,
    other,
    others,
    rest,
    true_idle,
    used,
)
from cuesta.analysis.certify.process_rows import benchmarked, mean, of_process, plus, ratio
from cuesta.analysis.certify.run import PHASES, CertificationRun
from cuesta.ledger.record import Figure, FormRow, Measurements, Reference

Rows = Mapping[str, FormRow]
"""Rows of a part, by their keys."""


def measurements(
    trials: Sequence[CertificationRun], reference: Reference | None, apart: ExtraRuns | None = None
) -> Measurements:
    """Derive parts a to d of the runs that count, and of those that were made apart."""
    benchmark = all("creation" not in trial.accounts for trial in trials)
    a, b = by_key(cpu_time(trials)), by_key(by_cause(trials))
    c = list(faults(trials, b, apart or ExtraRuns()))
    last = benchmarked(trials, a, b) if benchmark else of_process(trials, a, b, reference)
    return Measurements(a=list(a.values()), b=list(b.values()), c=c, d=list(last))


def by_key(lines: Iterable[FormRow]) -> Rows:
    """Index the rows of a part."""
    return {line.key: line for line in lines}


def cpu_time(trials: Sequence[CertificationRun]) -> Iterator[FormRow]:
    """Part a: the CPU time of both phases."""

    def row(key: str, name: str, today: str, take: Take, formula: str) -> FormRow:
        return line(trials, (key, name, today), take, formula)

    subject = "cgroup or process accounting of the subject"
    barred, waits = "idle while barred by a quota of CPU time", "idle with a wait for a page or a device, approximate"
    yield row("subject", "Time used by subject processes", "", used, f"{subject} − a.2")
    yield row("loading", "Time spent loading processes", "", of_causes(LOADING), "cause loading")
    yield row(
        "daemon", "Time spent in file system daemon", "kernel threads", daemon, "the kernel's threads, whoever for"
    )
    yield row("eligibility_idle", "Idle time due to eligibility control", "quota", eligibility, barred)
    yield row("page_wait_idle", "Idle time during page waits", "and devices", rest("iowait"), waits)
    yield row("true_idle", "True idle time", "", true_idle, "idle without such a wait, − a.4")
    yield row("others", "Used by others", "", others, "the driver, the meters and other processes")
    yield row("steal", "Taken by the hypervisor", "", rest("steal"), "steal")
    missed = "total − all above: interrupts of idle CPUs, what clocks miss"
    yield row("unaccounted", "In no account", "", rest("unaccounted"), missed)
    yield row("total", "Total CPU time charged", "", CertificationRun.total, "CPUs × length of the phase")


def by_cause(trials: Sequence[CertificationRun]) -> Iterator[FormRow]:
    """Part b: the subject's CPU time, split by cause; it adds up to a.1 + a.2."""

    def row(key: str, name: str, today: str, take: Take, formula: str) -> FormRow:
        return line(trials, (key, name, today), take, formula)

    for kind in KINDS:
        yield row(kind.key, kind.label, kind.today, of_causes(*kind.causes), kind.formula)
    yield row("non_fault", "Non-fault time", "user", of_causes(NON_FAULT), "user, but for the dynamic linker")
    yield row("loading", "Loading processes", "", of_causes(LOADING), "fork, exec, exit: a.2")
    yield row("other", "Other and not classified", "", other, "the remaining causes")
    yield row("total", "Total", "", CertificationRun.cpu, "CPU time of the subject: a.1 + a.2")


def faults(trials: Sequence[CertificationRun], b: Rows, apart: ExtraRuns) -> Iterator[FormRow]:
    """Part c: the average time of each kind, and their number."""
    for kind in KINDS:
        numbers = number(kind, trials, apart)
        times = {phase: ratio(getattr(b[kind.key], phase), getattr(numbers, phase)) for phase in (*PHASES, "total")}
        key, name = f"{kind.key}.average", f"{kind.name}: average"
        yield FormRow(key=key, name=name, today=kind.today, unit="s", formula="b ÷ number", **times)
        yield numbers


def number(kind: Kind, trials: Sequence[CertificationRun], apart: ExtraRuns) -> FormRow:
    """Make the row of a kind's number; the whole run's may be known where no phase's is."""
    creation, command = (numbers_in(kind, phase, trials, apart) for phase in PHASES)
    total = command if has_one_phase(trials) else plus(creation, command)
    estimated = mean([trial.whole_number(*kind.causes) for trial in trials])
    if total.value is None and estimated.value is not None:
        total = estimated
    return FormRow(
        key=f"{kind.key}.number",
        name=f"{kind.name}: number",
        today=kind.today,
        unit="number",
        formula=f"{HOW_COUNTED[kind.source]}; else, in total alone, as the sheet of the whole run estimates it",
        creation=creation,
        command=command,
        total=total,
    )


def numbers_in(kind: Kind, phase: str, trials: Sequence[CertificationRun], apart: ExtraRuns) -> Figure:
    """Give how many of a kind there were in a phase, by the runs that count them."""
    match kind.source:
        case "timed":
            return mean([trial.number(phase, *kind.counted) for trial in trials])
        case "interrupts":
            timed = mean([trial.occurrences(phase, *kind.counted) for trial in trials])
            return timed if timed.value is not None else apart.calls(phase, *kind.counted)
        case "traced":
            return apart.calls(phase, *kind.counted)
        case "linkage":
            return apart.symbols(phase)


def line(trials: Sequence[CertificationRun], names: tuple[str, str, str], take: Take, formula: str) -> FormRow:
    """Make a row in seconds: the mean over runs of each phase, and their sum."""
    key, name, today = names
    creation, command = (mean([take(trial, phase) for trial in trials]) for phase in PHASES)
    total = command if has_one_phase(trials) else plus(creation, command)
    return FormRow(
        key=key, name=name, today=today, unit="s", creation=creation, command=command, total=total, formula=formula
    )


def has_one_phase(trials: Sequence[CertificationRun]) -> bool:
    """Say whether the runs are those of a benchmark."""
    return all("creation" not in trial.accounts and "command" in trial.accounts for trial in trials)
