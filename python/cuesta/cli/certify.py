"""`cuesta certify`: runs a plan repeatedly and fills in MPL-17's form; or shows, signs or verifies one made before."""

import argparse
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from cuesta import __version__
from cuesta.analysis.certify.extra_runs import why_not_counted
from cuesta.analysis.certify.grade import LEAST_RUNS
from cuesta.analysis.certify.phases import CREATION_TRANSACTION, read_script
from cuesta.analysis.certify.read_run import read_run
from cuesta.cli.interrupts import interrupts
from cuesta.cli.output import check_json, say, write_json
from cuesta.engine import certifier
from cuesta.engine.folder import new_folder, private_folder
from cuesta.engine.folder import write_json as record_json
from cuesta.engine.job import Job
from cuesta.engine.local import conditions, preflight
from cuesta.engine.method import METERED_EVERY, Method, method
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
from cuesta.ledger.signature import check_key, sign
from cuesta.live import watching
from cuesta.plan import Group, RawOptions, load
from cuesta.private_files import write_private
from cuesta.target import without_passwords
from cuesta.terminal import inform
from cuesta.units import many
from cuesta.workflow.dry_run import plan_data, show_plan


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    check_flags(arguments)
    if arguments.verify:
        return verify(arguments)
    if arguments.sign:
        check_key(arguments.sign)
    if arguments.what.is_dir():
        check_is_certification(arguments.what)
        record = finish(arguments.what, arguments)
        write_json(arguments.json, record.model_dump(mode="json"))
        return Exit.GOOD if all(check.ok for check in record.checks if check.name == "complete") else Exit.INVALID
    return certify(arguments)


def verify(arguments: argparse.Namespace) -> int:
    """Verify what was certified; exit 1 if something is wrong."""
    from cuesta.workflow.verify import text, verify_all  # noqa: PLC0415

    results = verify_all(arguments.what, arguments.signers)
    for result in results:
        say("\n".join(text(result)), arguments.json)
    write_json(arguments.json, results[0] if len(results) == 1 else {"verified": results})
    return Exit.GOOD if all(result["ok"] for result in results) else Exit.FAILED


def check_flags(arguments: argparse.Namespace) -> None:
    """Raise UsageError for flags that cannot be combined; set the default of --runs."""
    names = ("runs", "absentee", "dry_run", "system", "reference", "profile", "comment", "out")
    flags = (name.replace("_", "-") for name in names if getattr(arguments, name) not in (None, False, []))
    plan_flags = ", ".join(f"--{flag}" for flag in flags)
    if arguments.signers and not arguments.verify:
        raise UsageError(
            "cuesta certify: --signers goes with --verify", "cuesta certify --verify FOLDER --signers FILE"
        )
    if arguments.verify and arguments.sign:
        raise UsageError("cuesta certify: --verify changes nothing, --sign does", "sign first, and verify then")
    if plan_flags and (arguments.verify or arguments.what.is_dir()):
        raise UsageError(
            f"cuesta certify: {plan_flags}: goes with a plan that is run, and {arguments.what} was made already",
            "leave it out; what was certified cannot be told otherwise afterwards",
        )
    if arguments.runs is None:
        arguments.runs = LEAST_RUNS
    if arguments.runs < 1:
        raise UsageError(f"--runs: expected a number of runs, got {arguments.runs}")


def check_is_certification(folder: Path) -> None:
    """Raise InputError if the folder holds no certification; the message lists those in its subfolders."""
    if is_certification(folder):
        return
    inside = ", ".join(sorted(path.parent.name for path in folder.glob(f"*/{GIVEN}")))
    remedy = f"it holds certifications of its own: {inside}" if inside else "give a plan, or a folder that certify made"
    raise InputError(f"{folder}: no certification: there is no {GIVEN} in it", remedy)


def certify(arguments: argparse.Namespace) -> int:
    """Certify each group of a plan. The exit code is the largest of theirs."""
    plan = load(RawOptions(plan=arguments.what, environment=dict(os.environ)), Path.cwd())
    jobs = list(certifier.parts(plan))
    out = arguments.out or new_folder(Path(), plan.settings.name)
    places = {group.name: out / group.name if len(jobs) > 1 else out for group, _ in jobs}
    for place in places.values():
        check_empty(place)
    for group, job in jobs:
        check_phases(group, job, arguments.absentee)
    methods = {group.name: method(job, arguments.absentee) for group, job in jobs}
    if arguments.dry_run:
        return show(jobs, methods, arguments)
    for _, job in jobs:
        preflight.check(job)
    if arguments.profile:
        read_service_profile(arguments.profile)
    codes, records = list[int](), dict[str, object]()
    for group, _ in jobs:
        how = methods[group.name]
        codes.append(one(setup(group, how, arguments), how, places[group.name], arguments))
        records[group.name] = finish(places[group.name], arguments).model_dump(mode="json")
        if codes[-1] == Exit.INTERRUPTED:
            break
    write_json(arguments.json, records if len(jobs) > 1 else records[jobs[0][0].name])
    return max(codes)


def check_empty(folder: Path) -> None:
    """Raise UsageError if there are files in a folder that is to be a certification."""
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder}: the folder is not empty", "give a new one: --out FOLDER")


def check_phases(group: Group, job: Job, absentee: bool) -> None:
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


def show(jobs: list[tuple[Group, Job]], methods: dict[str, Method], arguments: argparse.Namespace) -> int:
    rows = {name: [f"  {row}" for row in method.rows(arguments.runs)] for name, method in methods.items()}
    texts = [show_plan(job, ["RUNS", *rows[group.name]]) for group, job in jobs]
    say("\n\n".join(texts), arguments.json)
    data = {
        group.name: {
            **plan_data(job),
            "runs": methods[group.name].runs(arguments.runs),
            "untraced": methods[group.name].untraced,
            "seconds": methods[group.name].seconds(arguments.runs),
        }
        for group, job in jobs
    }
    write_json(arguments.json, data if len(jobs) > 1 else data[jobs[0][0].name])
    return Exit.GOOD


def one(about: CertificationSetup, how: Method, folder: Path, arguments: argparse.Namespace) -> int:
    """Make the runs of one certification."""
    check_empty(folder)  # again: another command may have used it meanwhile
    private_folder(folder)
    record_json(folder / GIVEN, about.model_dump(mode="json"))
    if arguments.profile:
        write_private(folder / SERVICE_PROFILE, arguments.profile.read_bytes())

    def tell(text: str) -> None:
        if not arguments.quiet:
            inform(f"group {about.group}: {text}")

    def judge(run: Path) -> list[str]:
        trial = read_run(run, about.pause)
        record_json(run / "summary.json", trial.summary.json())
        wrong = why_not_counted(trial, run.parent.name)
        name = f"{run.name} of {about.runs}" if run.parent == folder else run.relative_to(folder).as_posix()
        tell(f"{name}: does not count: {'; '.join(wrong)}" if wrong else f"{name}: counts")
        return wrong

    for row in how.rows(about.runs):
        tell(row)
    with interrupts() as stopping, watching(arguments.quiet) as look:
        result = certifier.certify(how, certifier.Series(folder, arguments.runs), judge, look, stopping)
    for failure in result.failures:
        inform(f"cuesta: {failure}")
    if result.interrupted:
        return Exit.INTERRUPTED
    return Exit.GOOD if result.counted == arguments.runs else Exit.INVALID


def setup(group: Group, how: Method, arguments: argparse.Namespace) -> CertificationSetup:
    """The facts about a certification that its runs do not record."""
    job = how.timed
    script = read_script(job.tape(group).content)
    return CertificationSetup(
        kind="benchmark" if arguments.absentee else "certification",
        cuesta=__version__,
        started=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        command=[without_passwords(word) for word in sys.argv],
        system=arguments.system or conditions.system(),
        plan=job.plan.settings.name,
        group=group.name,
        script=script.listing,
        pause=None if arguments.absentee else script.pause,
        pauses=script.pauses,
        runs=arguments.runs,
        settings=conditions.settings(),
        hardware=conditions.hardware(),
        factors=conditions.factors(),
        comments=arguments.comment,
        untraced=how.untraced,
        reference=reference(arguments.reference, script.listing) if arguments.reference else None,
    )


def reference(folder: Path, script: str) -> Reference:
    """Read the reference system's certification. Raises RefusedError if it played another script."""
    from cuesta.analysis.certify.record import derive_record  # noqa: PLC0415

    certification = open_certification(folder)
    if certification.given.script != script:
        raise RefusedError(
            f"{folder}: is of another script: times of it say nothing of this one", "certify both by one"
        )
    record = derive_record(certification)
    commands = next((each for each in record.measurements.d if each.key == "command"), None)
    if commands is None or commands.figure.value is None:
        why = commands.figure.why if commands else "it is a benchmark"
        raise RefusedError(f"{folder}: has no time of a command sequence: {why}")
    digest = sha256(folder / RECORD)
    return Reference(system=record.given.system, seconds=commands.figure.value, sha256=digest, runs=commands.runs)


def finish(folder: Path, arguments: argparse.Namespace) -> Record:
    """Derive the record, write it if there is none, and show it."""
    from cuesta.analysis.certify.agreement import differences  # noqa: PLC0415
    from cuesta.analysis.certify.record import derive_record  # noqa: PLC0415
    from cuesta.report import form, form_page, page  # noqa: PLC0415

    certification = open_certification(folder)
    record = derive_record(certification)
    if certification.record is None:
        record_json(folder / RECORD, record.model_dump(mode="json"))
    page.write(folder / PAGE, form_page.page(record, folder))
    paragraphs = [form.text(record, folder), f"RECORD   {folder / RECORD}"]
    if arguments.sign:
        paragraphs.append(f"SIGNED   {sign(folder, arguments.sign)}")
    if certification.record and (wrong := differences(record, certification.record)):
        paragraphs.append(f"NOTE     record.json says otherwise in {many(len(wrong), 'place')}; --verify names them")
    say("\n\n".join(paragraphs), arguments.json)
    return record
