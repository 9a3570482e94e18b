"""MPL-17's part IV: CPU time and what it went into, numbers and times of each, and what a process sees of it.

What is averaged over runs is written with its formula. Rows that 1969 had no need of (others, the hypervisor) stand
behind its own, so that every column still adds up.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean
from typing import Literal

from cuesta.analysis.trial import PHASES, Trial
from cuesta.ledger.record import Figure, Line, Measurements, Reference, Seen

KINDS = {
    "missing page": (("page_faults",), ("minor_faults", "major_faults"), "page_faults"),
    "missing segment": (("mapping",), ("mapping",), "mapping (open, close, mmap, munmap, mprotect, mremap)"),
    "linkage": (("linking",), ("linking",), "linking (the dynamic linker)"),
    "wall crossing": (("system_calls",), ("system_calls",), "system_calls that are neither mapping nor loading"),
    "interrupt": (("softirq", "interrupts"), ("softirq", "interrupts"), "softirq + interrupts"),
}
"""MPL-17's kinds of faults: the causes of CPU time that they are today, what is counted, and how that is said."""
RELATIVE = "d.6 ÷ d.3; #4 ÷ #3 in 1969"
NON_FAULT = "user"
LOADING = "loading"
NAMED = {LOADING, NON_FAULT, *(cause for causes, _, _ in KINDS.values() for cause in causes)}

Take = Callable[[Trial, str], Figure]
"""A figure of a run and a phase."""


def measurements(trials: Sequence[Trial], reference: Reference | None) -> Measurements:
    """Derive parts a to d of the runs that count."""
    benchmark = all("creation" not in trial.accounts for trial in trials)
    a, b = list(cpu_time(trials)), list(by_cause(trials))
    last = makespan(trials, a, b) if benchmark else seen(trials, a, b, reference)
    return Measurements(a=a, b=b, c=list(faults(trials)), d=list(last))


def cpu_time(trials: Sequence[Trial]) -> Iterator[Line]:
    """Part a: the CPU time of both phases."""
    subject = "cgroup or process accounting of the subject"
    yield line(trials, "Time used by subject processes", used, f"{subject} − a.2")
    yield line(trials, "Time spent loading processes", of_causes(LOADING), "cause loading")
    yield line(trials, "Time spent in file system daemon", daemon, "kernel threads, whoever for")
    yield line(trials, "Idle time due to eligibility control", eligibility, "idle while barred by a quota of CPU time")
    yield line(trials, "Idle time during page waits", rest("iowait"), "idle with a wait for a device, approximate")
    yield line(trials, "True idle time", true_idle, "idle with no wait for a device, − a.4")
    yield line(trials, "Used by others", others, "the driver, the meters and other processes")
    yield line(trials, "Taken by the hypervisor", rest("steal"), "steal")
    yield line(trials, "Total CPU time charged", Trial.total, "CPUs × length of the phase")


def by_cause(trials: Sequence[Trial]) -> Iterator[Line]:
    """Part b: the subject's CPU time, split by cause; it adds up to a.1 + a.2."""
    for name, (causes, _, formula) in KINDS.items():
        label = "Interrupt handling time" if name == "interrupt" else f"{name.capitalize()} fault time"
        yield line(trials, label, of_causes(*causes), formula)
    yield line(trials, "Non-fault time", of_causes(NON_FAULT), "user, but for the dynamic linker")
    yield line(trials, "Loading processes", of_causes(LOADING), "fork, exec, exit: a.2")
    yield line(trials, "Other and not classified", other, "the remaining causes")
    yield line(trials, "Total", Trial.cpu, "CPU time of the subject: a.1 + a.2")


def faults(trials: Sequence[Trial]) -> Iterator[Line]:
    """Part c: the average time of each, and their number; the whole run's may be known where no phase's is."""
    for name, (causes, counted, _) in KINDS.items():
        times = line(trials, name, of_causes(*causes), "")
        numbers = line(trials, name, of_numbers(*counted), "")
        if numbers.total.value is None:
            numbers = numbers.model_copy(update={"total": mean([trial.whole_number(*causes) for trial in trials])})
        each = {phase: ratio(getattr(times, phase), getattr(numbers, phase)) for phase in (*PHASES, "total")}
        yield Line(name=f"{name}: average time", unit="s", formula="b ÷ number", **each)
        formula = f"counted: {' + '.join(counted)}; in total by the sheet of the whole run where phases have none"
        yield numbers.model_copy(update={"name": f"{name}: number", "unit": "number", "formula": formula})


def seen(trials: Sequence[Trial], a: list[Line], b: list[Line], reference: Reference | None) -> Iterator[Seen]:
    """Part d: average times seen by a process."""
    users = fmean(trial.played.users for trial in trials) if trials else 0
    yield real(
        "Average real time for completion of a process",
        trials,
        lambda t: fmean(t.played.completion),
        "prompt + commands",
    )
    yield per_process("Average process creation time", a[0].creation, users, "a.1 creation ÷ processes")
    yield real(
        "  the same in real time, fork to first prompt", trials, lambda t: fmean(t.played.creation), "mean of users"
    )
    yield per_process("Average time for execution of command sequence", a[0].command, users, "a.1 command ÷ processes")
    yield real("  the same in real time", trials, lambda t: fmean(t.played.command), "mean of users")
    yield per_process("Non-fault time of a process, creation", b[5].creation, users, "b.6 creation ÷ processes")
    yield per_process("Non-fault time of a process, commands", b[5].command, users, "b.6 command ÷ processes")
    if reference is None:
        none = Figure(why="no reference system was named (--reference FOLDER)")
        yield Seen(name="Time for a reference system to execute the same", unit="s", figure=none, formula="given")
        yield Seen(name="Performance relative to it", unit="ratio", figure=none, formula=RELATIVE)
        return
    time = Figure(value=reference.seconds)
    own = each_of(a[0].command, users)
    yield Seen(name=f"Time for {reference.system} to execute the same", unit="s", figure=time, formula="its own d.3")
    yield Seen(name="Performance relative to it", unit="ratio", figure=ratio(time, own), formula=RELATIVE)


def makespan(trials: Sequence[Trial], a: list[Line], b: list[Line]) -> Iterator[Seen]:
    """Part d of a benchmark: one number, and what is needed to believe it."""
    faults_ = line(trials, "", of_numbers("major_faults"), "").command
    yield real("Elapsed time, first start to last end", trials, lambda t: t.played.spans["command"].seconds, "makespan")
    yield real("Average real time of a process", trials, lambda t: fmean(t.played.command), "mean of processes")
    zero, total = a[5].command, a[-1].command
    yield Seen(name="Zero idle", unit="share", figure=ratio(zero, total), formula="a.6 ÷ total")
    waits = ratio(a[4].command, total)
    yield Seen(name="Idle with a wait for a device", unit="share", figure=waits, formula="a.5 ÷ total")
    paging = ratio(b[0].command, b[-1].command)
    yield Seen(name="Paging load: CPU time on page faults", unit="share", figure=paging, formula="b.1 ÷ b total")
    yield Seen(name="Page faults with a device", unit="number", figure=faults_, formula="counted")


def used(trial: Trial, phase: str) -> Figure:
    """Give the subject's CPU time without the loading of processes; with it where causes are not known."""
    own, loading = trial.cpu(phase), trial.cause(phase, LOADING)
    if own.value is None or loading.value is None:
        return own
    return Figure(value=own.value - loading.value)


def true_idle(trial: Trial, phase: str) -> Figure:
    """Give idle without what a quota made of it: time in which the subject was barred is idle to the CPUs."""
    idle, barred = trial.rest(phase, "idle"), trial.rest(phase, "throttled")
    if idle.value is None or barred.value is None:
        return idle
    return Figure(value=idle.value - min(barred.value, idle.value))


def eligibility(trial: Trial, phase: str) -> Figure:
    """Give the idle time in which the subject was ready and barred; at most all idle."""
    idle, barred = trial.rest(phase, "idle"), trial.rest(phase, "throttled")
    if idle.value is None or barred.value is None:
        return barred
    return Figure(value=min(barred.value, idle.value))


def daemon(trial: Trial, phase: str) -> Figure:
    """Give the CPU time of kernel threads: as a cause where the whole machine is metered, else read beside it."""
    if is_machine(trial):
        return trial.cause(phase, "kernel_threads")
    found, others_ = trial.kernel_threads(phase), trial.rest(phase, "others")
    if found.value is None or others_.value is None:
        return found
    return Figure(value=min(found.value, others_.value))  # they are others to a process, and no more than those


def is_machine(trial: Trial) -> bool:
    """Say whether the subject is all that ran."""
    about = trial.recorded.metered.about(0)
    return about is not None and about.subject.rpartition(": ")[2] == "machine"


def others(trial: Trial, phase: str) -> Figure:
    """Give what others used beside the kernel's threads, which are others to a process."""
    found, own = trial.rest(phase, "others"), daemon(trial, phase)
    if found.value is None or own.value is None or is_machine(trial):
        return found
    return Figure(value=found.value - own.value)


def other(trial: Trial, phase: str) -> Figure:
    """Give what is of no cause that the form names."""
    found = trial.accounts.get(phase)
    names = [name for name in found.causes if name not in NAMED] if found else []
    return trial.cause(phase, *names)


def rest(name: str) -> Take:
    """Take something that the CPUs did beside the subject."""
    return lambda trial, phase: trial.rest(phase, name)


def of_causes(*names: str) -> Take:
    """Take the subject's CPU time by some causes together."""
    return lambda trial, phase: trial.cause(phase, *names)


def of_numbers(*names: str) -> Take:
    """Take how often something happened."""
    return lambda trial, phase: trial.number(phase, *names)


def line(trials: Iterable[Trial], name: str, take: Take, formula: str, unit: Literal["s", "number"] = "s") -> Line:
    """Make a row: the mean over runs of each phase, and their sum."""
    runs = list(trials)
    creation, command = (mean([take(trial, phase) for trial in runs]) for phase in PHASES)
    only_command = all("creation" not in trial.accounts and "command" in trial.accounts for trial in runs)
    total = command if only_command else plus(creation, command)
    return Line(name=name, unit=unit, creation=creation, command=command, total=total, formula=formula)


def real(name: str, trials: Iterable[Trial], take: Callable[[Trial], float], formula: str) -> Seen:
    """Make a row of part d by the driver's clock."""
    figure = mean([Figure(value=take(trial)) for trial in trials if trial.played.spans])
    return Seen(name=name, unit="s", figure=figure, formula=formula)


def per_process(name: str, figure: Figure, users: float, formula: str) -> Seen:
    """Make a row of part d by CPU time."""
    return Seen(name=name, unit="s", figure=each_of(figure, users), formula=formula)


def each_of(figure: Figure, number: float) -> Figure:
    """Divide by a number of processes."""
    return figure if figure.value is None else Figure(value=figure.value / number)


def mean(figures: Sequence[Figure]) -> Figure:
    """Average figures; if one is missing, say why."""
    if not figures:
        return Figure(why="no run counts")
    missing = next((figure for figure in figures if figure.value is None), None)
    return missing or Figure(value=fmean(figure.value for figure in figures if figure.value is not None))


def plus(one: Figure, other: Figure) -> Figure:
    """Add two figures."""
    if one.value is None or other.value is None:
        return one if one.value is None else other
    return Figure(value=one.value + other.value)


def ratio(one: Figure, other: Figure) -> Figure:
    """Divide two figures."""
    if one.value is None or other.value is None:
        return one if one.value is None else other
    return Figure(value=one.value / other.value) if other.value else Figure(why="there were none")
