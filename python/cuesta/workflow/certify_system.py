"""Certifies a system: runs a plan repeatedly, each group of users by itself, and derives MPL-17's form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cuesta import __version__
from cuesta.analysis.certify.agreement import list_differing_figures
from cuesta.analysis.certify.extra_runs import why_not_counted
from cuesta.analysis.certify.grade import LEAST_RUNS
from cuesta.analysis.certify.phases import CREATION_TRANSACTION, read_script
from cuesta.analysis.certify.read_run import read_run
from cuesta.analysis.certify.record import derive_record
from cuesta.engine import certifier
from cuesta.engine.job import Job
from cuesta.engine.local import conditions
from cuesta.engine.method import METERED_EVERY, Method, choose_method
from cuesta.engine.ports import Engine
from cuesta.errors import Exit, InputError, RefusedError, UsageError
from cuesta.ledger.certification import (
    GIVEN,
    PAGE,
    RECORD,
    SERVICE_PROFILE,
    is_certification,
    open_certification,
    sha256,
)
from cuesta.ledger.record import CertificationSetup, Record, Reference
from cuesta.ledger.service import read_service_profile
from cuesta.ledger.signature import sign
from cuesta.plan import Group, Plan
from cuesta.private_files import make_private, replace_json, replace_private, write_private
from cuesta.target import without_passwords
from cuesta.units import many
from cuesta.workflow.control import Control
from cuesta.workflow.dry_run import plan_data, show_plan


@dataclass(frozen=True, slots=True)
class CertificationTerms:
    """What a certification is told besides its plan."""

    runs: int = LEAST_RUNS
    """Timed runs that must count."""
    absentee: bool = False
    """Whether it is a benchmark of absentees: processes that have all their commands from the start."""
    system: str | None = None
    """What is certified; None: the distribution and the kernel of this machine."""
    reference: Path | None = None
    """A certification by the same script, with whose times those of this one are compared."""
    profile: Path | None = None
    """The profile of a live service that the script is to represent."""
    comments: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PlannedCertification:
    """A certification of one group of users, checked and ready to begin."""

    group: Group
    method: Method
    terms: CertificationTerms
    folder: Path

    def text(self) -> str:
        """What its runs would do."""
        return show_plan(self.method.timed, ["RUNS", *(f"  {row}" for row in self.method.rows(self.terms.runs))])

    def data(self) -> dict[str, object]:
        """`text` as data."""
        runs = self.terms.runs
        return {
            **plan_data(self.method.timed),
            "runs": self.method.runs(runs),
            "untraced": self.method.untraced,
            "seconds": self.method.seconds(runs),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Certification:
    """A certification folder and what its raw files say."""

    folder: Path
    record: Record
    """The form, its grade and why it has no better one, derived anew."""
    signature: Path | None = None
    """The signature that was just made."""
    exit: Exit = Exit.GOOD
    """The code with which the command ends."""
    contradictions: int = 0
    """In how many places `record.json` says otherwise."""
    failures: Sequence[str] = ()
    """Failures of the driver, a sentence each."""

    def __repr__(self) -> str:
        return f"<Certification {self.folder}: {self.record.grade}>"

    def text(self) -> str:
        """The form for a terminal, and where the files are."""
        from cuesta.report import form  # noqa: PLC0415, slow, and not always wanted

        rows = [form.text(self.record, self.folder), f"RECORD   {self.folder / RECORD}"]
        if self.signature:
            rows.append(f"SIGNED   {self.signature}")
        if self.contradictions:
            rows.append(
                f"NOTE     record.json says otherwise in {many(self.contradictions, 'place')}; --verify names them"
            )
        return "\n\n".join(rows)

    def json(self) -> dict[str, object]:
        """The object of `record.json` (docs/record.schema.json)."""
        return self.record.model_dump(mode="json")


def prepare_certifications(plan: Plan, terms: CertificationTerms, out: Path) -> list[PlannedCertification]:
    """Read and check everything: one certification for each group, below `out` if there are several."""
    if not isinstance(terms.runs, int) or terms.runs < 1:
        raise UsageError(f"--runs: expected a number of runs, got {terms.runs!r}")
    jobs = list(certifier.split_by_group(plan))
    folders = {group.name: out / group.name if len(jobs) > 1 else out for group, _ in jobs}
    for folder in folders.values():
        _check_empty(folder)
    for group, job in jobs:
        _check_phases(group, job, absentee=terms.absentee)
    return [
        PlannedCertification(group, choose_method(job, terms.absentee), terms, folders[group.name])
        for group, job in jobs
    ]


def certify_systems(
    planned: Sequence[PlannedCertification], control: Control, key: Path | None = None
) -> Iterator[tuple[str, Certification]]:
    """Make the runs of each certification; yields its group and itself. If stopped, the later ones are missing."""
    for each in planned:
        control.prepare_lines(each.method.timed)
        if each.terms.profile:
            read_service_profile(each.terms.profile)
    with control.open_engine(planned[0].method.timed.plan.settings) as engine:
        for each in planned:
            engine.check(each.method.timed)
        for each in planned:
            result = _make_runs(each, control, engine)
            certification = finish_certification(each.folder, key)
            yield each.group.name, replace(certification, exit=_exit(result, each), failures=result.failures)
            if result.interrupted:
                return


def read_certification(folder: Path) -> Certification:
    """Derive the record of a folder again. Raises InputError if it holds no certification."""
    if not is_certification(folder):
        inside = ", ".join(sorted(path.parent.name for path in folder.glob(f"*/{GIVEN}")))
        remedy = f"it holds certifications of its own: {inside}" if inside else "give a folder that certify made"
        raise InputError(f"{folder}: no certification: there is no {GIVEN} in it", remedy)
    certification = open_certification(folder)
    record = derive_record(certification)
    contradictions = (
        len(list_differing_figures(record, certification.record, {"sha256"})) if certification.record else 0
    )
    is_complete = all(check.ok for check in record.checks if check.name == "complete")
    return Certification(folder, record, None, Exit.GOOD if is_complete else Exit.INVALID, contradictions)


def finish_certification(folder: Path, key: Path | None) -> Certification:
    """Derive the record, write it if there is none, write the page, and sign the record if there is a key."""
    from cuesta.report import form_page  # noqa: PLC0415, slow, and not always wanted

    certification = read_certification(folder)
    if not (folder / RECORD).exists():
        replace_json(folder / RECORD, certification.json())
    replace_private(folder / PAGE, form_page.build_page(certification.record, folder))
    return replace(certification, signature=sign(folder, key)) if key else certification


def _exit(result: certifier.CertifierResult, planned: PlannedCertification) -> Exit:
    if result.interrupted:
        return Exit.INTERRUPTED
    return Exit.GOOD if result.counted == planned.terms.runs else Exit.INVALID


def _make_runs(planned: PlannedCertification, control: Control, engine: Engine) -> certifier.CertifierResult:
    _check_empty(planned.folder)  # again: another command may have used it meanwhile
    about, profile = _setup(planned), planned.terms.profile
    make_private(planned.folder)
    replace_json(planned.folder / GIVEN, about.model_dump(mode="json"))
    if profile:
        write_private(planned.folder / SERVICE_PROFILE, profile.read_bytes())
    for row in planned.method.rows(about.runs):
        control.tell(f"group {about.group}: {row}")
    series = certifier.Series(planned.folder, about.runs)
    judge = partial(_judge, planned.folder, about, control)
    return certifier.certify(planned.method, series, judge, control.console, engine)


def _judge(folder: Path, about: CertificationSetup, control: Control, run: Path) -> list[str]:
    """Why a run does not count; empty if it does. Its summary is written, and what is found is told."""
    certified = read_run(run, about.pause)
    replace_json(run / "summary.json", certified.summary.json())
    wrong = why_not_counted(certified, run.parent.name)
    name = f"{run.name} of {about.runs}" if run.parent == folder else run.relative_to(folder).as_posix()
    verdict = f"does not count: {'; '.join(wrong)}" if wrong else "counts"
    control.tell(f"group {about.group}: {name}: {verdict}")
    return wrong


def _check_empty(folder: Path) -> None:
    """Raise UsageError if there are files in a folder that is to be a certification."""
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder}: the folder is not empty", "give a new one: --out FOLDER")


def _check_phases(group: Group, job: Job, *, absentee: bool) -> None:
    """Raise InputError unless the tape marks the two phases of a certification."""
    if absentee:
        return
    tape = job.tape(group)
    script, where = read_script(tape.content), f"{tape.name}.tape"
    if not script.creates:
        raise InputError(
            f"{where}: it has no transaction `{CREATION_TRANSACTION}`",
            "begin it so, with a barrier and a pause behind: docs/certify.md; a batch of processes is --absentee",
        )
    least = 2 * METERED_EVERY
    if (script.pause or 0.0) < least:
        raise InputError(
            f"{where}: no pause of {least:g} s or more right behind a barrier",
            'write Barrier "created" and Sleep 1s there',
        )


def _setup(planned: PlannedCertification) -> CertificationSetup:
    """The facts about a certification that its runs do not record."""
    job, terms = planned.method.timed, planned.terms
    script = read_script(job.tape(planned.group).content)
    return CertificationSetup(
        kind="benchmark" if terms.absentee else "certification",
        cuesta=__version__,
        started=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        command=[without_passwords(word) for word in job.plan.command],
        system=terms.system or conditions.system(),
        plan=job.plan.settings.name,
        group=planned.group.name,
        script=script.listing,
        pause=None if terms.absentee else script.pause,
        pauses=script.pauses,
        runs=terms.runs,
        settings=conditions.settings(),
        hardware=conditions.hardware(),
        factors=conditions.factors(job.plan.settings),
        comments=list(terms.comments),
        untraced=planned.method.untraced,
        reference=_reference(terms.reference, script.listing) if terms.reference else None,
    )


def _reference(folder: Path, script: str) -> Reference:
    """Read the reference system's certification. Raises RefusedError if it played another script."""
    certification = open_certification(folder)
    if certification.given.script != script:
        raise RefusedError(
            f"{folder}: is of another script: times of it say nothing of this one", "certify both by one"
        )
    record = derive_record(certification)
    commands = next((row for row in record.measurements.d if row.key == "command"), None)
    if commands is None or commands.figure.value is None:
        why = commands.figure.why if commands else "it is a benchmark"
        raise RefusedError(f"{folder}: has no time of a command sequence: {why}")
    digest = sha256(folder / RECORD)
    return Reference(system=record.given.system, seconds=commands.figure.value, sha256=digest, runs=commands.runs)
