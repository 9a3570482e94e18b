"""Compares two versions of a program: short runs in pairs, until it is clear whether the new version is worse."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cuesta import _native
from cuesta.analysis.compare.looks import plan_pairs
from cuesta.analysis.compare.paired_figure import Margin, PairedFigure
from cuesta.analysis.compare.versions import (
    LEVEL,
    Verdict,
    VersionComparison,
    VersionRun,
    VersionTerms,
    compare_versions,
    read_version_run,
    read_versions,
)
from cuesta.engine.folder import run_folder
from cuesta.engine.interleaved import Interleaved, Turn, run_in_turn
from cuesta.engine.job import SECOND, Job
from cuesta.engine.ports import Observer
from cuesta.engine.run_job import run_job
from cuesta.errors import Exit, UsageError
from cuesta.figures import BY_NAME, Unit
from cuesta.ledger.versions import FILE, Ending, VersionsRecord, read_versions_record
from cuesta.plan import RawOptions
from cuesta.private_files import replace_json
from cuesta.target import without_passwords
from cuesta.validation import suggest
from cuesta.workflow.control import Control
from cuesta.workflow.rehearsal import LONGEST, Lengths, Rehearsal, choose_lengths
from cuesta.workflow.run_pairs import check_likeness
from cuesta.workflow.version_names import name_versions

EXITS = {
    Verdict.NO_WORSE: Exit.GOOD,
    Verdict.WORSE: Exit.CHANGED,
    Verdict.CANNOT_TELL: Exit.INCONCLUSIVE,
    Verdict.NOT_VALID: Exit.INVALID,
    Verdict.REFUSED: Exit.REFUSED,
}
DEFAULT_TAPE = "builtin:typing"
MARGIN, BUDGET = "5%", "3m"
"""The defaults of --margin and --budget."""
WANTED_PAIRS = 12
"""Runs are made shorter, within limits, until so many pairs fit into the budget."""
MOST_PAIRS = 60
"""More pairs than these are not planned: the looks would be too many."""
LATE = 1.15
"""A comparison may take so many times its budget, rather than end before a pair for which there was time as planned."""


@dataclass(frozen=True, slots=True)
class VersionsSettings:
    """What is asked of a comparison of versions."""

    margin: Margin
    budget: float
    """Seconds."""
    figures: Sequence[str] = ()
    """Figures that are judged; none: by the tape."""
    despite: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedVersions:
    """The comparison to make, checked."""

    series: Interleaved
    record: VersionsRecord
    jobs: tuple[Job, Job]
    """Those of the first pair."""


@dataclass(frozen=True, slots=True, repr=False)
class Versions:
    """Two versions of a program, compared."""

    result: VersionComparison
    """All that `cuesta.analysis` says."""
    record: VersionsRecord
    """What was compared, and how it ended."""

    def __repr__(self) -> str:
        return f"<Versions {' and '.join(self.record.names)}: {self.verdict}>"

    @property
    def folder(self) -> Path:
        """The folder of the pairs."""
        return self.result.folder

    @property
    def verdict(self) -> str:
        """`no worse`, `worse`, `cannot tell`, `not valid` or `refused`."""
        return str(self.result.verdict)

    @property
    def figures(self) -> Mapping[str, PairedFigure]:
        """The figures that were judged, and those that guard, by name: `figures["echo.p50"].difference.value`."""
        return {figure.metric.name: figure for figure in self.result.figures}

    @property
    def refused(self) -> Sequence[str]:
        """Why nothing is compared, a sentence each; empty if it is."""
        return self.result.why

    @property
    def exit(self) -> Exit:
        """The code with which the command ends."""
        return Exit.INTERRUPTED if self.is_interrupted else EXITS[self.result.verdict]

    @property
    def is_interrupted(self) -> bool:
        """Whether it was stopped before it could tell."""
        return self.record.ended == "interrupted" and self.result.verdict == Verdict.CANNOT_TELL

    @property
    def sentence(self) -> str:
        """The answer."""
        from cuesta.report.versions import answer  # noqa: PLC0415, slow, and not always wanted

        return answer(self.result, self.record)

    def text(self, *, colour: bool | None = False) -> str:
        """The comparison for a terminal; `colour` None: if this is a terminal."""
        from cuesta.report.versions import text  # noqa: PLC0415, slow, and not always wanted

        return text(self.result, self.record, colour)

    def markdown(self) -> str:
        """The comparison as Markdown, for pull requests."""
        from cuesta.report.versions import markdown  # noqa: PLC0415, slow, and not always wanted

        return markdown(self.result, self.record)

    def page(self, file: Path | str | None = None) -> Path:
        """Write the page, by default `report.html` in the folder; returns its file."""
        from cuesta.report.versions import write_page  # noqa: PLC0415, slow, and not always wanted

        file = Path(file or self.folder / "report.html")
        write_page(self.result, self.record, file)
        return file

    def json(self) -> dict[str, Any]:
        """The object that `--json` prints (docs/compare.md)."""
        from cuesta.report.versions import data  # noqa: PLC0415, slow, and not always wanted

        return data(self.result, self.record)


def prepare_versions(  # noqa: PLR0913, as a run
    targets: tuple[str, str],
    tape: str | None,
    settings: VersionsSettings,
    here: Path,
    *,
    environment: Mapping[str, str] = MappingProxyType({}),
    flags: Mapping[str, object] = MappingProxyType({}),
    command: Sequence[str],
) -> PlannedVersions:
    """Read and check all that a comparison of two targets needs. Raises CuestaError."""
    played = tape or DEFAULT_TAPE
    plan = Path(here, played) if played.endswith(".toml") else None
    common = {"meters": "none", **flags}
    base, new = (
        RawOptions(plan, None if plan else played, {**common, "target": target}, environment, command=tuple(command))
        for target in targets
    )
    series = Interleaved(base, new, here, MOST_PAIRS)
    jobs = series.jobs(1)
    check_likeness(jobs, settings.despite)
    figures = choose_figures(jobs[0], settings)
    record = VersionsRecord(
        names=name_versions(*targets),
        targets=(without_passwords(targets[0]), without_passwords(targets[1])),
        tape=", ".join(each.name for each in jobs[0].tapes.values()),
        is_default_tape=tape is None,
        figures=tuple(figures),
        guards=() if settings.figures else (figures[0].replace("p50", "p95"),),
        margin_share=settings.margin.share,
        margin_difference=settings.margin.difference,
        budget=settings.budget,
        despite=settings.despite,
    )
    return PlannedVersions(series, record, jobs)


def choose_figures(job: Job, settings: VersionsSettings) -> list[str]:
    """The figures that are judged: those that were named, or the typical one of what the tape times."""
    times_echo = any(tape.times_echo for tape in job.tapes.values())
    figures = [*settings.figures] or ["echo.p50" if times_echo else "response.p50"]
    for name in figures:
        if name not in BY_NAME or BY_NAME[name].better is None:
            known = [each for each, figure in BY_NAME.items() if figure.better]
            what = f"cuesta compare: --figure: expected a figure that is better or worse, got {name!r}"
            raise UsageError(f"{what}{suggest(name, known)}")
        if settings.margin.difference is not None and BY_NAME[name].unit != Unit.SECONDS:
            what = f"cuesta compare: --margin {settings.margin}: {name} is no duration"
            raise UsageError(what, "give a percentage: --margin 5%")
    return figures


def read_margin(value: float | str) -> Margin:
    """Read 0.05, `5%`, `2ms`, or two of them, separated by a comma. Raises UsageError."""
    share, difference = None, None
    for part in map(str.strip, str(f"{100 * value}%" if isinstance(value, float) else value).split(",")):
        number = part.removesuffix("%")
        if part.endswith("%") and share is None and re.fullmatch(r"\d*\.?\d+", number) and 0 < float(number) < 100:
            share = float(number) / 100
        elif re.search(r"\d\s*(us|ms|s)$", part) and difference is None:
            difference = read_duration(part, "--margin", "2ms")
        else:
            what = f"cuesta compare: --margin: expected a percentage or a duration, got {value!r}"
            raise UsageError(what, "as --margin 5%, --margin 2ms, or --margin 5%,2ms for the larger of both")
    return Margin(share, difference)


def read_budget(text: str) -> float:
    """Read a budget; seconds. Raises UsageError."""
    return read_duration(text, "--budget", BUDGET)


def read_duration(text: str, flag: str, example: str) -> float:
    """Read a duration; seconds. Raises UsageError."""
    try:
        seconds: float = _native.duration(text) / SECOND
    except ValueError as error:
        what = f"cuesta compare: {flag}: expected a duration, got {text!r}: {error}"
        raise UsageError(what, f"as {flag} {example}") from None
    if not seconds > 0:
        raise UsageError(f"cuesta compare: {flag}: expected more than nothing, got {text!r}", f"as {flag} {example}")
    return seconds


def read_comparison(folder: Path) -> Versions:
    """Derive a comparison from the folder that it left. Raises InputError."""
    record = read_versions_record(folder)
    terms = terms_of(record)
    if record.why or not (folder / "pairs.jsonl").exists():
        verdict = Verdict.NOT_VALID if record.why else Verdict.CANNOT_TELL
        return Versions(VersionComparison(terms, folder, [], [], [], verdict, record.why), record)
    return Versions(read_versions(folder, terms), record)


def terms_of(record: VersionsRecord) -> VersionTerms:
    margin = Margin(record.margin_share, record.margin_difference)
    is_cut_short = record.ended in ("budget", "interrupted")
    return VersionTerms(
        record.names, record.figures, record.guards, margin, record.planned, is_cut_short, record.despite
    )


def run_versions(planned: PlannedVersions, out: Path, control: Control) -> Versions:
    """Make pairs until they tell, or the budget is used up; returns the comparison."""
    for job in planned.jobs:
        control.prepare_lines(job)
    with run_folder(out) as folder:
        _Maker(planned, folder, control).make()
    return read_comparison(folder)


@dataclass
class _Maker:
    """Makes the runs of a comparison."""

    planned: PlannedVersions
    folder: Path
    control: Control
    begun: int = field(default_factory=_native.now)

    def make(self) -> None:
        """Rehearse, then make pairs; `versions.json` says at every moment how far it got."""
        record = self.planned.record
        self._keep(record)
        rehearsals = [self._rehearse(side) for side in (0, 1)]
        if ending := self._ending_of(rehearsals):
            self._keep(record.model_copy(update=ending))
            return
        left = record.budget - self._seconds()
        lengths = choose_lengths(rehearsals, left, WANTED_PAIRS)
        record = record.model_copy(update=_plan(record, lengths))
        self._keep(record)
        if not record.planned:
            self._keep(record.model_copy(update={"ended": "budget"}))
            return
        self.control.tell(f"up to {record.planned[-1]} pairs, about {lengths.pair:.0f} s each")
        ended, why = self._make_pairs(record, lengths)
        self._keep(record.model_copy(update={"ended": ended, "why": why}))

    def _rehearse(self, side: int) -> Rehearsal:
        """Play a version once, until enough was seen."""
        name = self.planned.record.names[side]
        rehearsal = Rehearsal(self.control.observer, self.control.stop)
        if not self.control.stop.is_set():
            self.control.tell(f"rehearsal: {name}")
            flags = {"settle": "0s", "measure": f"{LONGEST + 5:.0f}s"}
            job, begun = with_flags(self.planned.series, flags).jobs(1)[side], self._seconds()
            out = self.folder / "rehearsal" / ("base", "new")[side]
            run_job(job, out, rehearsal, rehearsal.enough, self.control.engine)
            rehearsal.overhead = max(self._seconds() - begun - rehearsal.seconds, 0.0)
            found = read_version_run(out, terms_of(self.planned.record)).obstacle
            rehearsal.obstacle = found or rehearsal.explain_nothing()
        return rehearsal

    def _ending_of(self, rehearsals: Sequence[Rehearsal]) -> dict[str, object]:
        """How the comparison ends before its first pair; empty if it does not."""
        if self.control.stop.is_set():
            return {"ended": "interrupted"}
        names = self.planned.record.names
        why = [f"{name}: {each.obstacle}" for name, each in zip(names, rehearsals, strict=True) if each.obstacle]
        return {"ended": "obstacle", "why": tuple(why)} if why else {}

    def _make_pairs(self, record: VersionsRecord, lengths: Lengths) -> tuple[Ending, Sequence[str]]:
        """Make pairs until they tell; returns why no more are made, and what was in the way."""
        terms, runs, pairs = terms_of(record), list[VersionRun](), list[tuple[VersionRun, VersionRun]]()
        flags = {"settle": f"{lengths.settle:g}s", "measure": f"{lengths.measure:g}s"}
        series = replace(with_flags(self.planned.series, flags), pairs=record.planned[-1])

        def announce(turn: Turn) -> Observer:
            self.control.tell(f"pair {turn.pair}: {record.names[turn.name == 'new']}")
            return self.control.observer

        def judge(run: Path) -> list[str]:
            runs.append(read_version_run(run, terms))
            why = runs[-1].compared.why_excluded
            return [why] if why else []

        turns = run_in_turn(series, self.folder, judge, announce, self.control.stop, engine=self.control.engine)
        for turn, reasons in turns:
            name = record.names[turn.name == "new"]
            for reason in reasons:
                self.control.tell(f"pair {turn.pair}, {name}, is not used: {reason}")
            if self.control.stop.is_set():
                return "interrupted", ()
            if runs[-1].obstacle:
                return "obstacle", (f"{name}: {runs[-1].obstacle}",)
            if len(runs) == 2:
                one, other = runs if turn.name == "new" else runs[::-1]
                pairs.append((one, other))
                runs.clear()
                if compare_versions(self.folder, pairs, terms).verdict != Verdict.CANNOT_TELL:
                    return "decided", ()
                if self._seconds() + lengths.pair > LATE * record.budget:
                    return "budget", ()
        return ("interrupted" if self.control.stop.is_set() else "budget"), ()

    def _keep(self, record: VersionsRecord) -> None:
        replace_json(self.folder / FILE, record.model_dump(mode="json"))

    def _seconds(self) -> float:
        """Since the comparison began."""
        return (_native.now() - self.begun) / SECOND


def _plan(record: VersionsRecord, lengths: Lengths) -> dict[str, object]:
    most = min(lengths.pairs, MOST_PAIRS)
    planned = plan_pairs(most, LEVEL / len(record.figures)) if most else []
    return {
        "planned": tuple(planned),
        "measure": lengths.measure,
        "seconds_per_pair": round(lengths.pair, 1),
    }


def with_flags(series: Interleaved, flags: Mapping[str, str]) -> Interleaved:
    """The same pairs, with settings that flags of the user override."""
    base, new = (replace(each, flags={**flags, **each.flags}) for each in (series.base, series.new))
    return replace(series, base=base, new=new)
