"""Compares two versions of a program: short runs in pairs, until it is clear whether the new version is worse."""

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cuesta import _native
from cuesta.analysis.compare.comparability import kinds_but
from cuesta.analysis.compare.paired_figure import Margin, PairedFigure
from cuesta.analysis.compare.versions import (
    NO_PAIR,
    Verdict,
    VersionComparison,
    read_versions,
)
from cuesta.engine.folder import run_folder
from cuesta.engine.interleaved import INDEX, Interleaved
from cuesta.engine.job import SECOND, Job
from cuesta.errors import Exit, UsageError
from cuesta.figures import BY_NAME, Unit
from cuesta.ledger.versions import Compared, VersionsRecord, read_versions_record
from cuesta.line_kinds import OWN_PROGRAMS, is_target
from cuesta.plan import RawOptions
from cuesta.revisions import BuildError, Revisions, check_out, find_revisions
from cuesta.target import kind_of, without_passwords
from cuesta.validation import suggest
from cuesta.workflow.control import Control
from cuesta.workflow.make_versions import MOST_PAIRS, PlannedVersions, VersionMaker
from cuesta.workflow.neighbours import ALONE, Neighbours
from cuesta.workflow.run_pairs import check_likeness
from cuesta.workflow.version_names import name_revisions, name_versions

EXITS = {
    Verdict.NO_WORSE: Exit.GOOD,
    Verdict.WORSE: Exit.CHANGED,
    Verdict.CANNOT_TELL: Exit.INCONCLUSIVE,
    Verdict.NOT_VALID: Exit.INVALID,
    Verdict.REFUSED: Exit.REFUSED,
}
DEFAULT_TAPE = "builtin:typing"
ECHOES, ANSWERS = ("echo", "echo_from_sent", "whole_frame"), ("response", "response_from_sent", "first_response")
"""Series of what the keys of a tape are timed to, and of what its waits are."""
MARGIN, BUDGET = "5%", "3m"
"""The defaults of --margin and --budget."""


@dataclass(frozen=True, slots=True)
class VersionsSettings:
    """What is asked of a comparison of versions."""

    margin: Margin
    budget: float
    """Seconds."""
    figures: Sequence[str] = ()
    """Figures that are judged; none: by the tape."""
    despite: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Versions:
    """Two versions of a program, compared."""

    result: VersionComparison
    """All that `cuesta.analysis` says."""

    def __repr__(self) -> str:
        return f"<Versions {' and '.join(self.record.names)}: {self.verdict}>"

    @property
    def record(self) -> VersionsRecord:
        """What was compared, and how it ended."""
        return self.result.record

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
        from cuesta.report.version_answer import answer  # noqa: PLC0415, slow, and not always wanted

        return answer(self.result)

    def text(self, *, colour: bool | None = False) -> str:
        """The comparison for a terminal; `colour` None: if this is a terminal."""
        from cuesta.report.versions import text  # noqa: PLC0415, slow, and not always wanted

        return text(self.result, colour)

    def markdown(self) -> str:
        """The comparison as Markdown, for pull requests."""
        from cuesta.report.versions import markdown  # noqa: PLC0415, slow, and not always wanted

        return markdown(self.result)

    def page(self, file: Path | str | None = None) -> Path:
        """Write the page, by default `report.html` in the folder; returns its file."""
        from cuesta.report.versions import write_page  # noqa: PLC0415, slow, and not always wanted

        file = Path(file or self.folder / "report.html")
        write_page(self.result, file)
        return file

    def json(self) -> dict[str, Any]:
        """The object that `--json` prints (docs/compare.md)."""
        from cuesta.report.versions import data  # noqa: PLC0415, slow, and not always wanted

        return data(self.result)


def prepare_versions(  # noqa: PLR0913, as a run
    targets: Sequence[str],
    tape: str | None,
    settings: VersionsSettings,
    here: Path,
    *,
    environment: Mapping[str, str] = MappingProxyType({}),
    flags: Mapping[str, object] = MappingProxyType({}),
    command: Sequence[str],
    revisions: str | None = None,
    build: str | None = None,
    neighbours: Neighbours = ALONE,
) -> PlannedVersions:
    """Read and check all that a comparison of versions needs. Raises CuestaError.

    Both are two targets, or one in the two revisions `BASE..NEW`, beside the neighbours if there are any; or they are
    one target whose users are alone, and beside the neighbours.
    """
    check_targets(targets, revisions, build, neighbours)
    found = find_revisions(revisions, build, here) if revisions else None
    if found and f"{found.repository}/" in targets[0]:
        what = f"cuesta compare: --revisions: {without_passwords(targets[0])} names a file of this checkout"
        raise UsageError(what, "both revisions would start the same: name it relative to this folder, as pty:./app")
    is_same = len(targets) == 1 and found is None
    played = tape or DEFAULT_TAPE
    plan = Path(here, played) if played.endswith(".toml") else None
    common = {"meters": "none", **flags, **neighbours.flags()}
    base, new = (
        RawOptions(plan, None if plan else played, {**common, **own}, environment, command=tuple(command))
        for own in (
            {"target": targets[0], **(neighbours.flags_alone() if is_same else {})},
            {"target": targets[-1]},
        )
    )
    folders = (found.base.folder, found.new.folder) if found else None
    series = Interleaved(base, new, here, MOST_PAIRS, folders)
    jobs = series.jobs(1)
    compared: Compared = "neighbours" if is_same else "versions"
    check_likeness(jobs, settings.despite, kinds_but(compared))
    if found and jobs[0].plan.settings.engine.kind != "local":
        what = "cuesta compare: --revisions: they are built in folders of this machine, and users are on others"
        raise UsageError(what, "leave --engine out")
    figures = choose_figures(jobs[0], settings)
    record = VersionsRecord(
        compared=compared,
        names=name_sides(targets, found, neighbours),
        targets=(without_passwords(targets[0]), without_passwords(targets[-1])),
        commits=(found.base.commit, found.new.commit) if found else None,
        tape=", ".join(each.name for each in jobs[0].tapes.values()),
        is_default_tape=tape is None,
        figures=tuple(figures),
        guards=() if settings.figures else (figures[0].replace("p50", "p95"),),
        margin_share=settings.margin.share,
        margin_difference=settings.margin.difference,
        budget=settings.budget,
        despite=settings.despite,
    )
    return PlannedVersions(series, record, jobs, found)


def check_targets(targets: Sequence[str], revisions: str | None, build: str | None, neighbours: Neighbours) -> None:
    """Raise UsageError unless there are as many targets as what is compared has."""
    neighbours.check()
    if build and not revisions:
        raise UsageError("cuesta compare: --build needs --revisions", "as --revisions main..HEAD --build make")
    expected, example = (1, 2) if neighbours.flags() else (2,), "'pty:./app-1.4' 'pty:./app-1.5'"
    what = "one target or two" if neighbours.flags() else "two targets"
    if revisions:
        expected, what, example = (1,), "one program for --revisions", "'pty:./app notes.txt'"
    if len(targets) not in expected or not all(map(is_target, targets)):
        given = " ".join(map(without_passwords, targets)) or "none"
        raise UsageError(f"cuesta compare: expected {what}, got {given}", f"as {example}")
    if revisions and kind_of(targets[0]) not in OWN_PROGRAMS:
        given = without_passwords(targets[0])
        raise UsageError(f"cuesta compare: --revisions: {given} is no program that is started here", f"as {example}")


def name_sides(targets: Sequence[str], revisions: Revisions | None, neighbours: Neighbours) -> tuple[str, str]:
    """Names of both versions."""
    if revisions:
        return name_revisions(revisions)
    return name_versions(*targets) if len(targets) == 2 else ("alone", neighbours.name())


def choose_figures(job: Job, settings: VersionsSettings) -> list[str]:
    """The figures that are judged: those that were named, or the typical one of what the tape times."""
    tapes = job.tapes.values()
    times_echo, times_answers = any(tape.times_echo for tape in tapes), any(tape.classes for tape in tapes)
    figures = [*settings.figures] or ["echo.p50" if times_echo else "response.p50"]
    for name in figures:
        if name not in BY_NAME or BY_NAME[name].better is None:
            known = [each for each, figure in BY_NAME.items() if figure.better]
            what = f"cuesta compare: --figure: expected a figure that is better or worse, got {name!r}"
            raise UsageError(f"{what}{suggest(name, known)}")
        if settings.margin.difference is not None and BY_NAME[name].unit != Unit.SECONDS:
            what = f"cuesta compare: --margin {settings.margin}: {name} is no duration"
            raise UsageError(what, "give a percentage: --margin 5%")
        series = BY_NAME[name].name.partition(".")[0]
        if (series in ECHOES and not times_echo) or (series in ANSWERS and not times_answers):
            what = f"cuesta compare: {name}: nothing of it is timed in {', '.join(tape.name for tape in tapes)}"
            raise UsageError(what, "let it type a key under `Set Echo screen`, or wait for an answer to one")
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
    if record.why or not (folder / INDEX).exists():
        why = record.why or ((NO_PAIR,) if record.spoilt else ())
        verdict = Verdict.NOT_VALID if why else Verdict.CANNOT_TELL
        return Versions(VersionComparison(record, folder, [], [], [], verdict, why))
    return Versions(read_versions(folder, record))


def run_versions(planned: PlannedVersions, out: Path, control: Control) -> Versions:
    """Make pairs until they tell, or the budget is used up; returns the comparison."""
    for job in planned.jobs:
        control.prepare_lines(job)
    failure = None
    with run_folder(out) as folder:
        revisions = planned.revisions
        try:
            with (
                check_out(revisions, folder, control.tell, control.console.stop) if revisions else nullcontext(),
                control.open_engine(planned.jobs[0].plan.settings) as engine,
            ):
                VersionMaker(planned, folder, control, engine).make()
        except BuildError as error:  # what the build printed stays in the folder
            failure = error
    if failure:
        raise failure
    return read_comparison(folder)
