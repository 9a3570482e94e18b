"""One run of a certification, and the figures that it gives by phase: CPU time, counts, or why there is none."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuesta import _native
from cuesta.analysis.certainty import TWO_SIDED_95
from cuesta.analysis.certify.phases import PhaseTimes, Span
from cuesta.analysis.summary import Summary
from cuesta.figures.step import StepFigures
from cuesta.ledger import Recorded
from cuesta.ledger.readings import KernelThreads, RunnableTasks
from cuesta.ledger.record import Absence, RecordFigure
from cuesta.records.meter_figure import UNRECORDED, MeterFigure
from cuesta.records.meter_report import MeterReport
from cuesta.records.schema import fields

UNSEEN = "the kernel's own threads were not read: within a container they cannot be seen"
NOT_SAMPLED = RunnableTasks([], [], [])
LONGEST = 200
"""Characters of a reason; the last ones are kept, which say most."""
SCRIPT_PHASES = ("creation", "command")
OF_INTERRUPTS = {"softirq", "interrupts"}
"""Causes that both tracers count; only the full tracer counts the others."""


@dataclass(slots=True)
class SampleTotals:
    """The samples of the subject in a phase, on which CPU time by cause rests."""

    number: float = 0.0
    seconds: float = 0.0
    """CPU time that samples cover."""
    squares: float = 0.0
    """Sum of squares of the CPU time that each sample stands for, which is more in readings with few samples."""
    calibrations: Counter[str] = field(default_factory=Counter)
    """Error of the calibration's constants by cause. It is equal in every reading, so it adds up linearly."""
    unmet: set[str] = field(default_factory=set)
    """Causes that some reading could have sampled and did not."""

    @property
    def effective_size(self) -> float:
        """Kish's effective sample size: the number of equally weighted samples with this sampling error."""
        return self.seconds**2 / self.squares if self.squares else self.number


@dataclass(slots=True)
class WholeReadings:
    """The CPUs' time in all readings that touch a phase, to check that the clocks add up."""

    capacity: float = 0.0
    """CPUs × length."""
    rest: Counter[str] = field(default_factory=Counter)
    """CPU time of others, `iowait`, `steal` and `idle`."""
    interrupts: float = 0.0
    """The most of it that interrupts took. Interrupts of idle CPUs belong to no process."""


@dataclass(slots=True)
class CpuAccount:
    """CPU time of a phase, in seconds. All of it is CPUs × length."""

    span: Span
    cpus: int = 0
    subject: float = 0.0
    rest: Counter[str] = field(default_factory=Counter)
    """What is not the subject's: `others`, `iowait`, `steal`, `idle`, `unaccounted`; `throttled`, a part of `idle`."""
    causes: Counter[str] = field(default_factory=Counter)
    """The subject's by cause; empty if it was never sampled."""
    coverage: float = 0.0
    """Share of the subject's CPU time that samples cover; the rest is divided in the same proportions."""
    readings: int = 0
    samples: SampleTotals = field(default_factory=SampleTotals)
    counts: Counter[str] = field(default_factory=Counter)
    """Events of the subject, as the kernel counts them: `minor_faults`, `major_faults`, `system_calls`, `execs`."""
    occurrences: Counter[str] = field(default_factory=Counter)
    """How often each cause of CPU time occurred."""
    readings_with: Counter[str] = field(default_factory=Counter)
    """Number of readings that have a figure: each of `counts`, `page_waits` and `throttled`."""
    whole_readings: WholeReadings = field(default_factory=WholeReadings)
    why: str | None = None
    """Why there is no account."""

    @property
    def seconds(self) -> float:
        return self.cpus * self.span.seconds

    @property
    def measured(self) -> float:
        """CPU time in whole readings by all clocks together."""
        return self.subject + sum(max(seconds, 0.0) for seconds in self.whole_readings.rest.values())


@dataclass(frozen=True, slots=True)
class CertificationRun:
    """One run of a certification."""

    folder: Path
    summary: Summary
    times: PhaseTimes
    accounts: Mapping[str, CpuAccount]
    """The CPU time by phase."""
    kernel: KernelThreads
    """The kernel's own threads."""
    runnable: RunnableTasks = NOT_SAMPLED
    """How many tasks of a benchmark were runnable."""

    @property
    def recorded(self) -> Recorded:
        return self.summary.recorded

    @property
    def step(self) -> StepFigures:
        return self.summary.last

    @property
    def doubts(self) -> list[str]:
        """Why the run does not count; empty if it does."""
        return [*self.why_unusable, *(str(doubt) for doubt in self.summary.doubts)]

    @property
    def why_unusable(self) -> list[str]:
        """Why not even counts from the run can be used; empty if they can."""
        stopped = [] if self.summary.ended == "completed" else [f"the run was {self.summary.ended}"]
        gaps = [f"a gap in the meters: {shorten_reason(gap.why)}" for gap in self.recorded.metered.gaps[:1]]
        return [*stopped, *self.times.missing, *gaps]

    @property
    def meters_whole_machine(self) -> bool:
        """Whether the subject is all that ran, so that the kernel's threads are a part of it."""
        about = self.recorded.metered.about(0)
        return about is not None and about.whole_machine is True

    def cpu(self, phase: str) -> RecordFigure:
        return self._take(phase, lambda account: account.subject)

    def other_use(self, phase: str, name: str) -> RecordFigure:
        """CPU time that is not the subject's: `others`, `iowait`, `steal`, `idle`, `throttled`, `unaccounted`."""
        account = self.accounts.get(phase)
        if name == "throttled" and account and not account.why and not account.readings_with[name]:
            return missing_figure(why_unmetered(getattr(self._report.idle, name) if self._report else None))
        return self._take(phase, lambda account: account.rest[name])

    def kernel_threads(self, phase: str) -> RecordFigure:
        span = self.times.spans.get(phase)
        if span is None:
            return NO_PHASE
        used = self.kernel.used_between(span.begin, span.end)
        return missing_figure(UNSEEN) if used is None else RecordFigure(value=used)

    def cause(self, phase: str, *names: str) -> RecordFigure:
        account = self.accounts.get(phase)
        if account and not account.why and not account.causes:
            unmetered = why_unmetered(self._report.by_cause if self._report else None)
            return missing_figure(
                "in this phase the subject was never sampled" if account.samples.number else unmetered
            )
        whole = self._take(phase, lambda account: sum(account.causes[name] for name in names))
        if account is None or whole.value is None or not account.samples.squares:
            return whole
        return sum_causes(account, *names)

    def number(self, phase: str, *names: str) -> RecordFigure:
        """How often the kernel counted events, if every reading has them."""
        return self._counted(phase, names, lambda account: sum(account.counts[name] for name in names))

    def occurrences(self, phase: str, *causes: str) -> RecordFigure:
        """How often causes of CPU time occurred, if a tracer counted them in every reading."""
        tracer = "page_waits" if set(causes) <= OF_INTERRUPTS else "system_calls"
        return self._counted(phase, (tracer,), lambda account: sum(account.occurrences[name] for name in causes))

    def _counted(self, phase: str, needed: Iterable[str], take: Callable[[CpuAccount], float]) -> RecordFigure:
        account = self.accounts.get(phase)
        if account and not account.why:
            for name in needed:
                readings = account.readings_with
                if name not in readings:
                    return missing_figure(self._count_why(name))
                if readings[name] < account.readings:
                    return missing_figure("it was not counted in every reading")
        return self._take(phase, take)

    def loaded(self) -> float | None:
        """Programs loaded in the whole run; None if they were not counted."""
        report = self._report
        execs = report.counts.execs.value if report else None
        return None if execs is None else float(execs.count)

    def count_in_whole_run(self, *causes: str) -> RecordFigure:
        """How often causes occurred in the whole run, by its meter report. Outside its phases a run causes none."""
        report = self._report
        by_cause = report.by_cause.value.causes if report and report.by_cause.value else {}
        counted = [by_cause[name].count.value for name in causes if name in by_cause]
        numbers = [number for number in counted if number is not None]
        if not numbers or len(numbers) < len(counted):
            return missing_figure(self._count_why(causes[0]))
        return RecordFigure(value=sum(numbers))

    def own_idle(self, phase: str) -> RecordFigure:
        """Share of the CPUs that the subject left unused, with what other processes used."""
        account = self.accounts.get(phase)
        if account is None:
            return NO_PHASE
        cpus = account.cpus or len(self.recorded.run.get("machine", {}).get("affinity", []))
        idle = self.runnable.idle(account.span.begin, account.span.end, cpus)
        return missing_figure("nobody looked whether its processes slept") if idle is None else RecordFigure(value=idle)

    def total(self, phase: str) -> RecordFigure:
        return self._take(phase, lambda account: account.seconds)

    def _take(self, phase: str, take: Callable[[CpuAccount], float]) -> RecordFigure:
        account = self.accounts.get(phase)
        if account is None:
            return NO_PHASE
        return missing_figure(account.why) if account.why else RecordFigure(value=take(account))

    @property
    def _report(self) -> MeterReport | None:
        return self.recorded.metered.reports.get(0)

    def _count_why(self, name: str) -> str:
        report = self._report
        if report is None:
            return why_unmetered(None)
        if name in fields("Traffic"):
            return why_unmetered(getattr(report.traffic, name))
        if name in fields("Counts"):
            if name in report.counts.of_machine:
                return "it is counted of the whole machine only"
            return why_unmetered(getattr(report.counts, name))
        causes = report.by_cause.value.causes if report.by_cause.value else {}
        return why_unmetered(causes[name].count if name in causes else None)


def why_unmetered(figure: MeterFigure[Any] | None) -> str:
    """Why a meter report lacks a figure; if it has it, a reading lacked it."""
    why = figure.why if figure else None
    return why if why and why != UNRECORDED else "it was not counted in every reading"


def sum_causes(account: CpuAccount, *names: str) -> RecordFigure:
    """CPU time by several causes, with its sampling error."""
    seconds, whole = sum(account.causes[name] for name in names), sum(account.causes.values())
    samples = account.samples
    if not seconds and not samples.unmet.intersection(names):
        return RecordFigure(value=0.0)
    if not seconds:  # no sample found it: 0, with the upper limit for the number of samples
        high = whole * _native.share_interval(0.0, samples.effective_size)[1]
        return RecordFigure(value=0.0, standard_error=high / TWO_SIDED_95, low=0.0, high=high)
    calibration = sum(samples.calibrations[name] for name in names)
    return figure_with_error(seconds, min(seconds / whole, 1.0), samples.effective_size, calibration)


def figure_with_error(seconds: float, share: float, samples: float, calibration: float = 0.0) -> RecordFigure:
    """CPU time in `share` of `samples`; `calibration` is one standard error, in seconds."""
    whole = seconds / share if share else 0.0
    low, high = _native.share_interval(share, samples)
    error = whole * math.sqrt(share * (1 - share) / samples) if samples else 0.0
    return RecordFigure(
        value=seconds,
        standard_error=math.hypot(error, calibration),
        low=max(seconds - math.hypot((share - low) * whole, TWO_SIDED_95 * calibration), 0.0),
        high=seconds + math.hypot((high - share) * whole, TWO_SIDED_95 * calibration),
    )


def missing_figure(why: str, absence: Absence | None = None) -> RecordFigure:
    return RecordFigure(why=f"no meter data ({shorten_reason(why)})", absence=absence)


def shorten_reason(why: str) -> str:
    """One row, cut to its last LONGEST characters."""
    row = " ".join(why.split())
    return row if len(row) <= LONGEST else f"…{row[-LONGEST:]}"


NO_PHASE = missing_figure("the run has no such phase", Absence.NO_PHASE)
