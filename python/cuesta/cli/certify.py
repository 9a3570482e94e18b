"""`cuesta certify`: a plan played again and again, and MPL-17's form of it; or a form held against its raw files."""

import argparse
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from cuesta import __version__
from cuesta.analysis.certify.extra_runs import doubts
from cuesta.analysis.certify.grade import LEAST_RUNS
from cuesta.analysis.certify.phases import CREATION, read_script
from cuesta.analysis.certify.run import read_run
from cuesta.cli import verify
from cuesta.cli.dry_run import plan_data, show_plan
from cuesta.cli.interrupts import interrupts
from cuesta.cli.output import check_json, say, write_json
from cuesta.engine import certifier, conditions, preflight
from cuesta.engine.folder import private_folder
from cuesta.engine.folder import write_json as record_json
from cuesta.engine.job import Job
from cuesta.engine.method import METERED_EVERY, Method, method
from cuesta.errors import Exit, InputError, RefusedError, UsageError
from cuesta.ledger.certification import GIVEN, PAGE, PROFILE, RECORD, is_certification, open_certification, sha256
from cuesta.ledger.record import CertificationSetup, Record, Reference
from cuesta.ledger.service import read_service
from cuesta.ledger.signature import see_key, sign
from cuesta.live import watching
from cuesta.plan import Group, RawOptions, load
from cuesta.units import many


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    insist_on_one(arguments)
    if arguments.verify:
        return verify.carry_out(arguments.what, arguments.signers, arguments.json)
    if arguments.sign:
        see_key(arguments.sign)
    if arguments.what.is_dir():
        see_certification(arguments.what)
        record = finish(arguments.what, arguments)
        write_json(arguments.json, record.model_dump(mode="json"))
        return Exit.GOOD if all(check.ok for check in record.checks if check.name == "complete") else Exit.INVALID
    return certify(arguments)


def insist_on_one(arguments: argparse.Namespace) -> None:
    """Refuse flags that have no effect together."""
    flags = ("runs", "absentee", "dry_run", "system", "reference", "profile", "comment", "out")
    given_ones = (flag.replace("_", "-") for flag in flags if getattr(arguments, flag) not in (None, False, []))
    of_plans = ", ".join(f"--{flag}" for flag in given_ones)
    if arguments.signers and not arguments.verify:
        raise UsageError(
            "cuesta certify: --signers goes with --verify", "cuesta certify --verify FOLDER --signers FILE"
        )
    if arguments.verify and arguments.sign:
        raise UsageError("cuesta certify: --verify changes nothing, --sign does", "sign first, and verify then")
    if of_plans and (arguments.verify or arguments.what.is_dir()):
        raise UsageError(
            f"cuesta certify: {of_plans}: goes with a plan that is run, and {arguments.what} was made already",
            "leave it out; what was certified cannot be told otherwise afterwards",
        )
    if arguments.runs is None:
        arguments.runs = LEAST_RUNS
    if arguments.runs < 1:
        raise UsageError(f"--runs: expected a number of runs, got {arguments.runs}")


def see_certification(folder: Path) -> None:
    """Raises InputError if the folder holds no certification; it may hold one for each of several groups."""
    if is_certification(folder):
        return
    own = ", ".join(sorted(path.parent.name for path in folder.glob(f"*/{GIVEN}")))
    remedy = f"it holds certifications of its own: {own}" if own else "give a plan, or a folder that certify made"
    raise InputError(f"{folder}: no certification: there is no {GIVEN} in it", remedy)


def certify(arguments: argparse.Namespace) -> int:
    """Make the certification of each group of a plan; the exit code is that of the worst."""
    plan = load(RawOptions(plan=arguments.what, environment=dict(os.environ)), Path.cwd())
    jobs = list(certifier.parts(plan))
    for group, job in jobs:
        see_script(group, job, arguments.absentee)
    methods = {group.name: method(job, arguments.absentee) for group, job in jobs}
    if arguments.dry_run:
        return show(jobs, methods, arguments)
    for _, job in jobs:
        preflight.check(job)
    if arguments.profile:
        read_service(arguments.profile)
    out = arguments.out or Path("runs") / f"{plan.settings.name}-{datetime.now():%Y-%m-%d-%H%M%S}"
    places = {group.name: out / group.name if len(jobs) > 1 else out for group, _ in jobs}
    codes, records = list[int](), dict[str, object]()
    for group, _ in jobs:
        how = methods[group.name]
        codes.append(one(given(group, how, arguments), how, places[group.name], arguments))
        records[group.name] = finish(places[group.name], arguments).model_dump(mode="json")
        if codes[-1] == Exit.INTERRUPTED:
            break
    write_json(arguments.json, records if len(jobs) > 1 else records[jobs[0][0].name])
    return max(codes)


def see_script(group: Group, job: Job, absentee: bool) -> None:
    """Check that a tape marks its phases. Raises InputError with what is missing."""
    if absentee:
        return
    tape = job.tape(group)
    script, where = read_script(tape.script), f"{tape.name}.tape"
    if not script.creates:
        raise InputError(
            f"{where}: it has no transaction `{CREATION}`",
            "begin it so, with a barrier and a pause behind: docs/certify.md; a batch of processes is --absentee",
        )
    least = 2 * METERED_EVERY
    if (script.pause or 0.0) < least:
        raise InputError(
            f"{where}: no pause of {least:g} s or more right behind a barrier",
            'write Barrier "created" and Sleep 1s there',
        )


def show(jobs: list[tuple[Group, Job]], methods: dict[str, Method], arguments: argparse.Namespace) -> int:
    shown = [show_plan(job, [f"  {row}" for row in methods[group.name].said(arguments.runs)]) for group, job in jobs]
    say("\n\n".join(shown), arguments.json)
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


def one(known: CertificationSetup, how: Method, folder: Path, arguments: argparse.Namespace) -> int:
    """Make the runs of one certification."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder}: the folder is not empty", "give a new one: --out FOLDER")
    private_folder(folder)
    record_json(folder / GIVEN, known.model_dump(mode="json"))
    if arguments.profile:
        shutil.copyfile(arguments.profile, folder / PROFILE)

    def tell(said: str) -> None:
        if not arguments.quiet:
            print(f"group {known.group}: {said}", file=sys.stderr)

    def judge(made: Path) -> list[str]:
        trial = read_run(made, known.pause)
        record_json(made / "summary.json", trial.summary.json())
        wrong = doubts(trial, made.parent.name)
        name = f"{made.name} of {known.runs}" if made.parent == folder else made.relative_to(folder).as_posix()
        tell(f"{name}: does not count: {'; '.join(wrong)}" if wrong else f"{name}: counts")
        return wrong

    for row in how.said(known.runs):
        tell(row)
    with interrupts() as stopping, watching(arguments.quiet) as look:
        done = certifier.certify(how, certifier.Place(folder, arguments.runs), judge, look, stopping)
    for failure in done.failures:
        print(f"cuesta: {failure}", file=sys.stderr)
    if done.interrupted:
        return Exit.INTERRUPTED
    return Exit.GOOD if done.counted == arguments.runs else Exit.INVALID


def given(group: Group, how: Method, arguments: argparse.Namespace) -> CertificationSetup:
    """Record what no run tells."""
    job = how.timed
    script = read_script(job.tape(group).script)
    return CertificationSetup(
        kind="benchmark" if arguments.absentee else "certification",
        cuesta=__version__,
        started=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        command=sys.argv,
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
    """Take a certification as the reference system. Raises RefusedError if it is of another script."""
    from cuesta.analysis.certify.record import derive  # noqa: PLC0415

    certification = open_certification(folder)
    if certification.given.script != script:
        raise RefusedError(
            f"{folder}: is of another script: times of it say nothing of this one", "certify both by one"
        )
    record = derive(certification)
    own = next((each for each in record.measurements.d if each.key == "command"), None)
    if own is None or own.figure.value is None:
        why = own.figure.why if own else "it is a benchmark"
        raise RefusedError(f"{folder}: has no time of a command sequence: {why}")
    digest = sha256(folder / RECORD)
    return Reference(system=record.given.system, seconds=own.figure.value, sha256=digest, runs=own.runs)


def finish(folder: Path, arguments: argparse.Namespace) -> Record:
    """Derive the record, write it if there is none, and show it."""
    from cuesta.analysis.certify.agreement import differences  # noqa: PLC0415
    from cuesta.analysis.certify.record import derive  # noqa: PLC0415
    from cuesta.report import form_page, form_text, page  # noqa: PLC0415

    certification = open_certification(folder)
    record = derive(certification)
    if certification.record is None:
        record_json(folder / RECORD, record.model_dump(mode="json"))
    page.write(folder / PAGE, form_page.page(record, folder))
    said = [form_text.text(record, folder), f"RECORD   {folder / RECORD}"]
    if arguments.sign:
        said.append(f"SIGNED   {sign(folder, arguments.sign)}")
    if certification.record and (wrong := differences(record, certification.record)):
        said.append(f"NOTE     record.json says otherwise in {many(len(wrong), 'place')}; --verify names them")
    say("\n\n".join(said), arguments.json)
    return record
