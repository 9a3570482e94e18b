"""Derives a certification's record from its raw files; `agreement` compares it with `record.json`."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from statistics import fmean

from cuesta.analysis.certify.absentee import warn_unrepresentative
from cuesta.analysis.certify.certification_run import SCRIPT_PHASES, CertificationRun
from cuesta.analysis.certify.extra_runs import ExtraRuns, read_extra_runs
from cuesta.analysis.certify.form_rows import PART_A, PART_B, divide_figures, fault_rows, mean_figure, time_row
from cuesta.analysis.certify.grade import (
    award_grade,
    check_completeness,
    check_form,
    check_settled,
    make_check,
    run_checks,
    select_counting_runs,
    share_over_phases,
)
from cuesta.analysis.certify.process_rows import benchmark_rows, process_rows
from cuesta.analysis.certify.read_run import read_run
from cuesta.ledger.certification import Certification, hashes, text_hash
from cuesta.ledger.record import (
    Absence,
    CertificationSetup,
    Check,
    Driver,
    Measurements,
    Method,
    Published,
    Record,
    RecordFigure,
    Reference,
    RunRow,
    Workload,
)
from cuesta.target import kind_of

ATTACHED = {"pty": "typewriter", "pipe": "FSIM"}
"""MPL-17's words for what a process is attached to."""
CUT = (
    "CPU time: the meters read every {every:.2g} s, at least once in the pause of {pause:.3g} s between the phases, so "
    "that none of the subject's is in the wrong phase. Bounds: the driver's instants. Of what others used and of idle, "
    "readings at a bound give the part by time"
)
WHOLE = "CPU time: from the first process started to the last one ended, by readings every {every:.2g} s"


def derive_record(certification: Certification) -> Record:
    """Raises InputError if a run cannot be read."""
    given = certification.given
    phased = given.kind == "certification"
    timed = [read_run(folder, given.pause) for folder in certification.runs]
    runs = select_counting_runs(timed)
    excluded = [read_run(folder, given.pause) for folder in certification.excluded]
    excluded += [run for run in timed if run.doubts]
    any_runs = runs or excluded or [read_run(folder, given.pause) for folder in certification.settling]
    raw = hashes(certification)
    extra = read_extra_runs(certification)
    form = derive_measurements(runs, given.reference, extra)
    results = run_checks(timed, phased)
    results.append(make_check("complete", check_completeness(given.runs, len(runs), excluded or any_runs)))
    if runs:
        results.append(make_check("form", check_form(form, phased)))
    earned = award_grade(len(runs), results)
    record = Record(
        id=hashlib.sha256(json.dumps(raw).encode()).hexdigest(),
        given=given,
        driver=describe_driver(runs),
        workload=describe_workload(given, any_runs),
        method=describe_method(certification, runs, excluded, extra),
        runs=[run_row(certification, run) for run in runs],
        measurements=form,
        published=list(list_published(runs, form)),
        checks=results,
        grade=earned,
        because=[] if earned == "certified" else list(why_not_certified(certification, results, excluded)),
        warnings=warn_unrepresentative(certification, runs),
        raw=raw,
    )
    return record.model_copy(update={"sha256": text_hash(record.model_dump(mode="json"))})


def derive_measurements(
    runs: Sequence[CertificationRun], reference: Reference | None, extra: ExtraRuns | None = None
) -> Measurements:
    """Derive parts a to d from the runs that count, and from the extra runs."""
    a, b = ({row.key: time_row(row, runs) for row in part} for part in (PART_A, PART_B))
    benchmark = all("creation" not in run.accounts for run in runs)
    d = benchmark_rows(runs, a, b) if benchmark else process_rows(runs, a, b, reference)
    c = fault_rows(runs, b, extra or ExtraRuns())
    return Measurements(a=list(a.values()), b=list(b.values()), c=list(c), d=list(d))


def why_not_certified(
    certification: Certification, results: Sequence[Check], excluded: Sequence[CertificationRun]
) -> Iterator[str]:
    moved_aside = [run for run in excluded if run.folder in certification.excluded]  # the others fail a check
    failed = [each for each in results if not each.ok]
    yield from dict.fromkeys(each.said for each in failed)
    if any(each.name == "runs" for each in failed):
        yield from (f"{within(certification, run)} did not count: {'; '.join(run.doubts)}" for run in moved_aside)


def within(certification: Certification, run: CertificationRun) -> str:
    return run.folder.relative_to(certification.folder).as_posix()


def describe_driver(runs: Sequence[CertificationRun]) -> Driver:
    """The worst lateness of all runs."""
    steps = [run.step for run in runs]
    return Driver(
        lateness_p50=most([step.lateness.p50 for step in steps]),
        lateness_p99=most([step.lateness.p99 for step in steps]),
        cpu=max((step.driver.cpu for step in steps), default=0.0),
        run_wait=max((step.driver.run_wait for step in steps), default=0.0),
    )


def most(values: Sequence[float | None]) -> RecordFigure:
    known = [value for value in values if value is not None]
    return RecordFigure(value=max(known)) if known else RecordFigure(why="no key was typed")


def describe_workload(given: CertificationSetup, runs: Sequence[CertificationRun]) -> Workload:
    """The workload of the first run."""
    if not runs:
        return NOTHING
    recorded = runs[0].recorded
    group = recorded.plan["group"][0]
    return Workload(
        tape=next(iter(recorded.run["tapes"])),
        sha256=hashlib.sha256(given.script.encode()).hexdigest(),
        target=group["target"],
        attached=ATTACHED.get(kind_of(group["target"]), "line"),
        users=group["users"],
        load=str(group["load"]),
        seed=recorded.run["seed"],
        stagger=group["stagger"],
    )


def describe_method(
    certification: Certification,
    runs: Sequence[CertificationRun],
    excluded: Sequence[CertificationRun],
    extra: ExtraRuns,
) -> Method:
    unmetered = extra.completion()
    metered = mean_figure([RecordFigure(value=fmean(run.times.completion)) for run in runs if run.times.completion])
    times = divide_figures(metered, unmetered)
    abouts = [about for run in runs if (about := run.recorded.metered.about(0))]
    rows = [row.length for run in runs for row in run.recorded.metered.rows]
    cut = (CUT if certification.given.kind == "certification" else WHOLE) if rows else NO_READING
    return Method(
        runs=len(runs),
        excluded={within(certification, run): run.doubts for run in excluded},
        settling=len(certification.settling),
        apart={what: [within(certification, run) for run in made] for what, made in extra.runs.items() if made},
        untraced=certification.given.untraced,
        unmetered=unmetered,
        cost=times if times.value is None else RecordFigure(value=times.value - 1),
        settled=check_settled(runs)[1],
        cut=cut.format(every=fmean(rows or [0.0]), pause=certification.given.pause or 0.0),
        metered=f"{abouts[0].source}: {abouts[0].why}" if abouts else "not metered",
        honesty=abouts[0].honesty if abouts else "",
        tools={"cuesta": certification.given.cuesta},
    )


def run_row(certification: Certification, run: CertificationRun) -> RunRow:
    spans = run.times.spans
    length = {name: RecordFigure(value=spans[name].seconds) if name in spans else NO_PHASE for name in SCRIPT_PHASES}
    accounts = run.accounts.values()
    measured = sum(each.measured for each in accounts)
    capacity = sum(each.whole_readings.capacity for each in accounts)
    return RunRow(
        folder=within(certification, run),
        creation=length["creation"],
        command=length["command"],
        creation_cpu=run.cpu("creation") if "creation" in spans else NO_PHASE,
        command_cpu=run.cpu("command"),
        completion=RecordFigure(value=fmean(run.times.completion)) if run.times.completion else NO_PHASE,
        steal=share_over_phases(run, "steal"),
        idle=share_over_phases(run, "idle"),
        accounted=RecordFigure(value=measured / capacity) if capacity else RecordFigure(why="no meter data"),
        transactions=run.step.transactions.count,
    )


def list_published(runs: Sequence[CertificationRun], form: Measurements) -> Iterator[Published]:
    """Published figures beside the form's, or beside the mean of the runs."""
    of_form = {f"form.{row.key}": row.figure for row in form.d}
    for rows in zip(*(run.summary.published for run in runs), strict=False):
        one = rows[0]
        if one.step is None:
            continue  # it is of another number of users
        values = [
            RecordFigure(value=row.measured, why="nothing was measured" if row.measured is None else None)
            for row in rows
        ]
        yield Published(
            what=one.what,
            figure=one.figure,
            unit="s" if one.is_duration else "number",
            published=one.published,
            bound=one.bound,
            measured=of_form.get(one.figure) or mean_figure(values),
            source=one.source,
        )


NO_READING = "CPU time: no run that counts was metered"
NOTHING = Workload(
    tape="",
    sha256="",
    target="",
    attached="line",
    users=0,
    load="",
    seed=0,
    stagger="0s",
)
NO_PHASE = RecordFigure(why="the run has no such phase", absence=Absence.NO_PHASE)
