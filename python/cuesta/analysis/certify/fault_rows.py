"""Part c of MPL-17's form: the number and the average time of each kind of fault. Part b has the CPU time of each."""

from collections.abc import Iterator, Mapping, Sequence

from cuesta.analysis.certify.cpu_rows import FAULT_KINDS, FaultKind
from cuesta.analysis.certify.extra_runs import ExtraRuns
from cuesta.analysis.certify.figure_arithmetic import mean, ratio
from cuesta.analysis.certify.run import SCRIPT_PHASES, CertificationRun, both_phases
from cuesta.ledger.record import FormRow, RecordFigure

HOW_COUNTED = {
    "timed": "counted in the timed runs",
    "interrupts": "counted by the tracer, in the timed runs",
    "traced": "counted by the tracer, in the run apart that traces system calls",
    "linkage": "references bound by name, as the linkers say in the run apart that asks them",
}


def fault_rows(runs: Sequence[CertificationRun], b: Mapping[str, FormRow], extra: ExtraRuns) -> Iterator[FormRow]:
    """Make part c: the average time of each kind of fault, and their number.

    An average is a ratio of means: part b's mean CPU time ÷ the mean number, both over the runs that count. So
    `page.average` is the CPU time of a page fault in a phase, minor or major; the time that a task waits off its CPU is
    the meters' `traffic.page_wait`.
    """
    for kind in FAULT_KINDS:
        number = number_row(kind, runs, extra)
        averages = {at: ratio(getattr(b[kind.key], at), getattr(number, at)) for at in (*SCRIPT_PHASES, "total")}
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
    estimated = mean([run.count_in_whole_run(*kind.causes) for run in runs])
    return FormRow(
        key=f"{kind.key}.number",
        name=f"{kind.name}: number",
        today=kind.today,
        label=kind.row_label("number"),
        unit="number",
        creation=creation,
        command=command,
        total=estimated if total.value is None and estimated.value is not None else total,
        formula=f"{HOW_COUNTED[kind.counted_by]}; else, in total alone, as the sheet of the whole run estimates it",
    )


def number_in(kind: FaultKind, phase: str, runs: Sequence[CertificationRun], extra: ExtraRuns) -> RecordFigure:
    match kind.counted_by:
        case "timed":
            return mean([run.number(phase, *kind.counted) for run in runs])
        case "interrupts":
            timed = mean([run.occurrences(phase, *kind.counted) for run in runs])
            return timed if timed.value is not None else extra.calls(phase, *kind.counted)
        case "traced":
            return extra.calls(phase, *kind.counted)
        case "linkage":
            return extra.symbols(phase)
