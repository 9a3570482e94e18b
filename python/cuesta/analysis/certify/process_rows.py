"""Part d of MPL-17's form: average times seen by a process; for a benchmark its elapsed time.

A ratio to a reference system never stands without its interval over the runs of both.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from cuesta.analysis.certify.certification_run import CertificationRun
from cuesta.analysis.certify.form_rows import (
    NUMBERS_A,
    NUMBERS_B,
    Rows,
    add_figures,
    divide_figures,
    mean_figure,
    number_rows,
    scale_figure,
    subject_time,
)
from cuesta.analysis.hodges_lehmann import RUNS_FOR_INTERVAL, ratio_interval
from cuesta.ledger.record import Absence, FormRow, ProcessRow, RecordFigure, Reference

KEYS = (
    *("completion", "creation", "creation_real", "creation_whole", "command", "command_real"),
    *("creation_non_fault", "command_non_fault", "reference", "relative"),
)
"""Rows of a certification, in their order."""
NUMBERS = {"a": NUMBERS_A, "b": NUMBERS_B, "d": number_rows("d", KEYS)}


def process_rows(
    runs: Sequence[CertificationRun], a: Rows, b: Rows, reference: Reference | None
) -> Iterator[ProcessRow]:
    users = fmean(run.times.users for run in runs) if runs else 0

    def cpu(key: str, name: str, figure: RecordFigure, formula: str) -> ProcessRow:
        own = figure if figure.value is None else scale_figure(figure, 1 / users)
        return ProcessRow(key=key, name=name, unit="s", figure=own, formula=f"{formula.format(**NUMBERS)} ÷ processes")

    def real(key: str, name: str, take: Callable[[CertificationRun], float], formula: str) -> ProcessRow:
        return clock_row(runs, (key, name), take, formula)

    start, same = "Average process creation time", "  the same in real time"
    whole = add_figures(add_figures(a["subject"].creation, a["loading"].creation), a["daemon"].creation)
    completed = "Average real time for completion of a process"
    yield real("completion", completed, lambda run: fmean(run.times.completion), "prompt + commands")
    yield cpu("creation", start, a["subject"].creation, "{a[subject]} creation")
    yield real("creation_real", f"{same}, fork to first prompt", lambda run: fmean(run.times.creation), "mean of users")
    yield cpu(
        "creation_whole",
        "  with loading and daemon, as the memo has it",
        whole,
        "{a[subject]} + {a[loading]} + {a[daemon]} creation",
    )
    execution = "Average time for execution of command sequence"
    by_run = [(subject_time(run, "command").value, run.times.users) for run in runs]
    known = [value / users for value, users in by_run if value is not None and users]
    command = cpu("command", execution, a["subject"].command, "{a[subject]} command")
    command = command.model_copy(update={"runs": known if len(known) == len(by_run) else []})
    yield command
    yield real("command_real", same, lambda run: fmean(run.times.command), "mean of users")
    non_fault = "Non-fault time of a process"
    yield cpu("creation_non_fault", f"{non_fault}, creation", b["non_fault"].creation, "{b[non_fault]} creation")
    yield cpu("command_non_fault", f"{non_fault}, commands", b["non_fault"].command, "{b[non_fault]} command")
    yield from reference_rows(command, reference)


def reference_rows(own: ProcessRow, reference: Reference | None) -> Iterator[ProcessRow]:
    """The reference system's time for the same commands, and the ratio to it."""
    unasked = "no reference system was named (--reference FOLDER)"
    unnamed = RecordFigure(why=unasked, absence=Absence.NO_REFERENCE)
    time = RecordFigure(value=reference.seconds) if reference else unnamed
    name = reference.system if reference else "a reference system"
    whose = f"Time for {name} to execute the same"
    formula = f"its own {NUMBERS['d']['command']}" if reference else "given"
    yield ProcessRow(key="reference", name=whose, unit="s", figure=time, formula=formula)
    figure, interval = ratio_with_interval(divide_figures(time, own.figure) if reference else time, own.runs, reference)
    yield ProcessRow(
        key="relative",
        name="Performance relative to it",
        unit="ratio",
        figure=figure,
        formula="{d[reference]} ÷ {d[command]}; #4 ÷ #3 in 1969".format(**NUMBERS),
        interval=interval,
    )


def ratio_with_interval(
    whole: RecordFigure, own: Sequence[float], reference: Reference | None
) -> tuple[RecordFigure, tuple[float, float] | None]:
    """`whole`, the ratio of two mean times, with its exact interval over runs; neither if runs are too few."""
    if whole.value is None or reference is None:
        return whole, None
    if min(len(own), len(reference.runs)) < RUNS_FOR_INTERVAL:
        have = f"here are {len(own)} and of the reference {len(reference.runs)}"
        why = f"a ratio has an interval over runs, which takes {RUNS_FOR_INTERVAL} of each system: {have}"
        return RecordFigure(why=why), None
    interval = ratio_interval(own, reference.runs)
    return (whole, interval) if interval else (RecordFigure(why="a run of either system took no time"), None)


def benchmark_rows(runs: Sequence[CertificationRun], a: Rows, b: Rows) -> Iterator[ProcessRow]:
    """Part d of a benchmark: elapsed time, idle and paging."""
    elapsed, process = "Elapsed time, first start to last end", "Average real time of a process"
    yield clock_row(runs, ("elapsed", elapsed), lambda run: run.times.spans["command"].seconds, "makespan")
    yield clock_row(runs, ("completion", process), lambda run: fmean(run.times.command), "mean of processes")

    def part(key: str, name: str, one: FormRow, whole: FormRow, formula: str) -> ProcessRow:
        figure = divide_figures(one.command, whole.command)
        return ProcessRow(key=key, name=name, unit="share", figure=figure, formula=formula.format(**NUMBERS))

    yield part("zero_idle", "Zero idle", a["true_idle"], a["total"], "{a[true_idle]} ÷ total")
    own = mean_figure([run.own_idle("command") for run in runs])
    whose = "CPUs less its tasks that wanted one, ÷ CPUs; looked at ten times a second"
    yield ProcessRow(
        key="own_idle", name="Own idle, even while others had the CPUs", unit="share", figure=own, formula=whose
    )
    yield part(
        "device_idle", "Idle with a wait for a device", a["page_wait_idle"], a["total"], "{a[page_wait_idle]} ÷ total"
    )
    yield part("paging", "Paging load: CPU time on page faults", b["page"], b["total"], "{b[page]} ÷ b total")
    major = mean_figure([run.number("command", "major_faults") for run in runs])
    name = "Page faults with a device"
    yield ProcessRow(key="major_faults", name=name, unit="number", figure=major, formula="counted")


def clock_row(
    runs: Sequence[CertificationRun], names: tuple[str, str], take: Callable[[CertificationRun], float], formula: str
) -> ProcessRow:
    figure = mean_figure([RecordFigure(value=take(run)) for run in runs if run.times.spans])
    return ProcessRow(key=names[0], name=names[1], unit="s", figure=figure, formula=formula)
