"""Reads the extra runs of a certification, each made for one figure: their counts, and why a run does not count.

Only the control run is timed: it repeats a timed run without meters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from cuesta.analysis.certify.certification_run import CertificationRun, missing_figure
from cuesta.analysis.certify.read_run import read_run
from cuesta.ledger.certification import CONTROL, EXTRA_FOLDERS, LINKAGE, TRACED, Certification
from cuesta.ledger.readings import Linked, read_linkage
from cuesta.ledger.record import RecordFigure

RUN = {TRACED: "the traced run", LINKAGE: "the run that asks the linkers", CONTROL: "the control run"}
LEAST_REPORTED = 0.9
"""Least share of the loaded programs whose linkers must have reported."""


@dataclass(frozen=True)
class ExtraRuns:
    """The extra runs, by folder (`cuesta.ledger.certification.EXTRA_FOLDERS`)."""

    runs: Mapping[str, list[CertificationRun]] = field(default_factory=dict)
    linked: Mapping[Path, Linked] = field(default_factory=dict)
    """The linkers' reports, by run folder."""
    untraced: str | None = None
    """Why no run was traced."""

    def runs_that_count(self, what: str) -> list[CertificationRun]:
        return [run for run in self.runs.get(what, []) if not why_not_counted(run, what)]

    def calls(self, phase: str, *causes: str) -> RecordFigure:
        return self._mean(TRACED, lambda run: run.occurrences(phase, *causes))

    def symbols(self, phase: str) -> RecordFigure:
        return self._mean(LINKAGE, lambda run: self._symbols(run, phase))

    def completion(self) -> RecordFigure:
        return self._mean(CONTROL, lambda run: RecordFigure(value=fmean(run.times.completion)))

    def _symbols(self, run: CertificationRun, phase: str) -> RecordFigure:
        span, linked = run.times.spans.get(phase), self.linked[run.folder]
        if span is None:
            return missing_figure("the run has no such phase")
        creation = run.times.spans.get("creation")
        if creation and not any(creation.end <= at <= run.times.spans["command"].begin for at in linked.at):
            return missing_figure("no reading of the linkers' reports fell between the phases")
        counts = linked.linked_between(span.begin, span.end)
        if counts is None:
            return missing_figure("the linkers' reports were not read throughout the phase")
        return self._insist_on_reports(run, counts[1])

    def _insist_on_reports(self, run: CertificationRun, symbols: int) -> RecordFigure:
        """The number, if the linkers of LEAST_REPORTED of the loaded programs reported."""
        programs = self.linked[run.folder].programs[-1]
        if not programs:
            return missing_figure("no program's linker reported: they have no GNU linker, or not our environment")
        loaded = [n for traced in self.runs_that_count(TRACED) if (n := traced.loaded()) is not None]
        if loaded and programs < LEAST_REPORTED * fmean(loaded):
            return missing_figure(
                f"the linkers of {programs} programs reported, and {fmean(loaded):.0f} programs were loaded"
            )
        return RecordFigure(value=symbols)

    def _mean(self, what: str, take: Callable[[CertificationRun], RecordFigure]) -> RecordFigure:
        counting_runs = self.runs_that_count(what)
        if not counting_runs:
            return missing_figure(self.why_none_counts(what))
        figures = [take(run) for run in counting_runs]
        missing = next((figure for figure in figures if figure.value is None), None)
        return missing or RecordFigure(value=fmean(figure.value for figure in figures if figure.value is not None))

    def why_none_counts(self, what: str) -> str:
        runs = self.runs.get(what, [])
        if runs:
            return f"{RUN[what]} does not count: {'; '.join(why_not_counted(runs[-1], what))}"
        if what == TRACED and self.untraced:
            return f"not traced: {self.untraced}"
        return f"{RUN[what]} was not made"


def why_not_counted(run: CertificationRun, what: str) -> list[str]:
    """A run that is not timed counts if all users came to the end, however late."""
    return run.why_unusable if what in (TRACED, LINKAGE) else run.doubts


def read_extra_runs(certification: Certification) -> ExtraRuns:
    """Raises InputError if a run cannot be read."""
    pause = certification.given.pause
    runs = {what: [read_run(run, pause) for run in certification.extra_runs.get(what, [])] for what in EXTRA_FOLDERS}
    linked = {run.folder: read_linkage(run.recorded) for run in runs[LINKAGE]}
    return ExtraRuns(runs, linked, certification.given.untraced)
