"""MPL-17's part d: what a process sees; of a benchmark one number, and what is needed to believe it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from cuesta.analysis.certify.phase_figures import Take, used
from cuesta.analysis.certify.relative import relative
from cuesta.analysis.certify.run import CertificationRun
from cuesta.analysis.certify.sampling_error import scaled, total
from cuesta.ledger.record import Figure, FormRow, ProcessRow, Reference

UNASKED = "no reference system was named (--reference FOLDER)"
"""Why there is no ratio to a system."""
NONE_OF_IT = "there were none"
"""Why there is no average."""
Rows = Mapping[str, FormRow]
"""Rows of part a or b, by their keys."""


def of_process(
    trials: Sequence[CertificationRun], a: Rows, b: Rows, reference: Reference | None
) -> Iterator[ProcessRow]:
    """Part d: average times seen by a process."""
    users = fmean(trial.times.users for trial in trials) if trials else 0

    def cpu(key: str, name: str, figure: Figure, formula: str) -> ProcessRow:
        return ProcessRow(key=key, name=name, unit="s", figure=each_of(figure, users), formula=f"{formula} ÷ processes")

    def real(key: str, name: str, take: Callable[[CertificationRun], float], formula: str) -> ProcessRow:
        return by_clock(trials, (key, name), take, formula)

    start, same = "Average process creation time", "  the same in real time"
    whole = plus(plus(a["subject"].creation, a["loading"].creation), a["daemon"].creation)
    completed = "Average real time for completion of a process"
    yield real("completion", completed, lambda t: fmean(t.times.completion), "prompt + commands")
    yield cpu("creation", start, a["subject"].creation, "a.1 creation")
    yield real("creation_real", f"{same}, fork to first prompt", lambda t: fmean(t.times.creation), "mean of users")
    yield cpu("creation_whole", "  with loading and daemon, as the memo has it", whole, "a.1 + a.2 + a.3 creation")
    execution = "Average time for execution of command sequence"
    command = cpu("command", execution, a["subject"].command, "a.1 command")
    command = command.model_copy(update={"runs": by_run(trials, used, "command")})
    yield command
    yield real("command_real", same, lambda t: fmean(t.times.command), "mean of users")
    non_fault = "Non-fault time of a process"
    yield cpu("creation_non_fault", f"{non_fault}, creation", b["non_fault"].creation, "b.6 creation")
    yield cpu("command_non_fault", f"{non_fault}, commands", b["non_fault"].command, "b.6 command")
    yield from beside_reference(command, reference)


def beside_reference(own: ProcessRow, reference: Reference | None) -> Iterator[ProcessRow]:
    """Hold the time of a command sequence against that of another system."""
    time = Figure(value=reference.seconds) if reference else Figure(why=UNASKED)
    name = reference.system if reference else "a reference system"
    whose, formula = f"Time for {name} to execute the same", "its own d.3" if reference else "given"
    yield ProcessRow(key="reference", name=whose, unit="s", figure=time, formula=formula)
    yield relative(ratio(time, own.figure) if reference else time, own.runs, reference.runs if reference else [])


def benchmarked(trials: Sequence[CertificationRun], a: Rows, b: Rows) -> Iterator[ProcessRow]:
    """Part d of a benchmark."""
    elapsed, process = "Elapsed time, first start to last end", "Average real time of a process"
    yield by_clock(trials, ("elapsed", elapsed), lambda t: t.times.spans["command"].seconds, "makespan")
    yield by_clock(trials, ("completion", process), lambda t: fmean(t.times.command), "mean of processes")

    def part(key: str, name: str, one: FormRow, of: FormRow, formula: str) -> ProcessRow:
        return ProcessRow(key=key, name=name, unit="share", figure=ratio(one.command, of.command), formula=formula)

    yield part("zero_idle", "Zero idle", a["true_idle"], a["total"], "a.6 ÷ total")
    own = mean([trial.own_idle("command") for trial in trials])
    whose = "CPUs less its tasks that wanted one, ÷ CPUs; looked at ten times a second"
    yield ProcessRow(
        key="own_idle", name="Own idle, whoever else had the CPUs", unit="share", figure=own, formula=whose
    )
    yield part("device_idle", "Idle with a wait for a device", a["page_wait_idle"], a["total"], "a.5 ÷ total")
    yield part("paging", "Paging load: CPU time on page faults", b["page"], b["total"], "b.1 ÷ b total")
    major = mean([trial.number("command", "major_faults") for trial in trials])
    name = "Page faults with a device"
    yield ProcessRow(key="major_faults", name=name, unit="number", figure=major, formula="counted")


def by_clock(
    trials: Sequence[CertificationRun], names: tuple[str, str], take: Callable[[CertificationRun], float], formula: str
) -> ProcessRow:
    """Make a row by the driver's clock."""
    figure = mean([Figure(value=take(trial)) for trial in trials if trial.times.spans])
    return ProcessRow(key=names[0], name=names[1], unit="s", figure=figure, formula=formula)


def by_run(trials: Sequence[CertificationRun], take: Take, phase: str) -> list[float]:
    """Give a figure of one process run by run; nothing if a run lacks it."""
    found = [(take(trial, phase).value, trial.times.users) for trial in trials]
    known = [value / users for value, users in found if value is not None and users]
    return known if len(known) == len(found) else []


def each_of(figure: Figure, number: float) -> Figure:
    """Divide by a number of processes."""
    return figure if figure.value is None else scaled(figure, 1 / number)


def mean(figures: Sequence[Figure]) -> Figure:
    """Average figures; if one is missing, say why."""
    if not figures:
        return Figure(why="no run counts")
    missing = next((figure for figure in figures if figure.value is None), None)
    return missing or total(figures, len(figures))


def plus(one: Figure, other: Figure) -> Figure:
    """Add two figures."""
    if one.value is None or other.value is None:
        return one if one.value is None else other
    return total([one, other])


def ratio(one: Figure, other: Figure) -> Figure:
    """Divide two figures."""
    if one.value is None or other.value is None:
        return one if one.value is None else other
    return scaled(one, 1 / other.value) if other.value else Figure(why=NONE_OF_IT)
