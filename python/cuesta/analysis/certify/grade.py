"""The grade of a certification, and the checks behind it.

`certified`: at least five runs count and every check holds. `observation`: one run. `estimate`: anything else.
"""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Literal

from cuesta.analysis.certify.certification_run import SCRIPT_PHASES, CertificationRun, CpuAccount
from cuesta.analysis.planned import read_allowed
from cuesta.ledger.record import Absence, Check, Measurements, ProcessRow, RecordFigure
from cuesta.units import many, share

LEAST_RUNS = 5
"""Runs that a certificate needs. MPL-17's successors made one run, so they could not separate chance from change."""
CLOSES = 0.02
"""Largest allowed relative difference between the CPUs' time and the sum of subject, others, idle and steal."""
TICKS = 0.03
"""Additional seconds per CPU that these clocks may miss at the two ends of a phase."""
COVERAGE = 0.9
"""Least share of the subject's CPU time that samples must cover."""
OTHERS = 0.25
"""Largest share of the CPUs that others may use."""
LOSSY = {
    "parents": "CPU time of processes that were not waited for, or left their parents, may be missing: root sees it",
    "exit_records_by_parent": "CPU time of processes that left their parents may be missing: forks are not reported",
}
"""Sources of the subject's CPU time that can lose some."""
DRIFT = 0.10
"""The first run is unsettled if it differs from the median of the others by more than this share, and by more than they
differ from one another."""


def award_grade(runs: int, results: Sequence[Check]) -> Literal["certified", "observation", "estimate"]:
    if runs >= LEAST_RUNS and all(check.ok for check in results):
        return "certified"
    return "observation" if runs == 1 else "estimate"


def select_counting_runs(runs: Sequence[CertificationRun]) -> list[CertificationRun]:
    """The runs that count: neither invalid nor incomplete, whatever their folder."""
    return [run for run in runs if not run.doubts]


def make_check(name: str, result: tuple[bool, str]) -> Check:
    ok, said = result
    return Check(name=name, ok=ok, said=said)


def run_checks(timed: Sequence[CertificationRun], phased: bool) -> list[Check]:
    """Check all runs in `run-N`, in the order of the form."""
    return list(_run_checks(timed, select_counting_runs(timed), SCRIPT_PHASES if phased else SCRIPT_PHASES[1:]))


def _run_checks(
    timed: Sequence[CertificationRun], runs: Sequence[CertificationRun], phases: Sequence[str]
) -> Iterator[Check]:
    counted = f"{many(len(runs), 'run')} counted; a certificate needs {LEAST_RUNS}"
    yield make_check("runs", (len(runs) >= LEAST_RUNS, counted))
    if timed:
        yield make_check("valid", (len(runs) == len(timed), explain_invalid(timed)))
    if not runs:
        return
    yield make_check("settled", check_settled(runs))
    unmetered = [why for run in runs for phase in phases if (why := run.cpu(phase).why)]
    yield make_check("metered", (not unmetered, unmetered[0] if unmetered else "every phase of every run was metered"))
    causes = [why for run in runs for phase in phases if (why := run.cause(phase, "user").why)]
    yield make_check("causes", (not causes, causes[0] if causes else "CPU time is known by cause"))
    if not unmetered:
        yield make_check("closes", check_closure(runs))
        yield make_check("steal", check_steal(runs))
        yield make_check("alone", check_others(runs))
        yield make_check("utilization", check_utilization(runs))
        yield make_check("trusted", check_trust(runs))
    if not causes:
        yield make_check("split", check_coverage(runs))


def explain_invalid(timed: Sequence[CertificationRun]) -> str:
    """Why the first of the runs that do not count is left out."""
    wrong = (f"{run.folder.name} does not count: {'; '.join(run.doubts)}" for run in timed if run.doubts)
    return next(wrong, "every run that counts is valid and complete")


def check_completeness(requested: int, counted: int, excluded: Sequence[CertificationRun]) -> tuple[bool, str]:
    """Whether as many runs count as were requested."""
    number = f"{counted} of the {many(requested, 'run')} that were asked for counted"
    if counted >= requested:
        return True, number
    ways = {run.summary.ended for run in excluded}
    if "interrupted" in ways:
        return False, f"the certification was interrupted: {number}"
    if "cut off" in ways:
        return False, f"the certification was cut off: {number}"
    enough = len(excluded) >= requested
    how = "as many did not" if enough else "no more were made: it was interrupted, or its driver failed"
    return False, f"the certification ended early: {number}, and {how}"


def check_form(form: Measurements, phased: bool) -> tuple[bool, str]:
    """Whether the form has every figure."""
    missing = list(list_missing_figures(form, phased))
    if not missing:
        return True, "every part of the form could be had"
    where, why = missing[0]
    more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
    return False, f"the form lacks {where}{more}: {why}"


def list_missing_figures(form: Measurements, phased: bool) -> Iterator[tuple[str, str]]:
    """Missing figures and why, except averages of no events and the ratio to a reference if none is named."""
    phases = SCRIPT_PHASES if phased else SCRIPT_PHASES[1:]
    for part in ("a", "b", "c", "d"):
        for row in getattr(form, part):
            figures = (
                {"": row.figure} if isinstance(row, ProcessRow) else {f" ({at})": getattr(row, at) for at in phases}
            )
            for at, figure in figures.items():
                if figure.why and figure.absence not in {Absence.NO_EVENT, Absence.NO_REFERENCE}:
                    yield f"{part}: {row.name.strip()}{at}", figure.why


def check_settled(runs: Sequence[CertificationRun]) -> tuple[bool, str]:
    """Whether the first run's CPU time and length are like those of the others."""
    series = {
        "CPU time": [subject for run in runs if (subject := subject_cpu(run)) is not None],
        "length": [sum(span.seconds for span in run.times.spans.values()) for run in runs],
    }
    for what, values in series.items():
        if len(values) < 3:
            return False, "too few runs to tell"
        first, later = values[0], values[1:]
        off = abs(first / median(later) - 1) if median(later) else 0.0
        if off > DRIFT and abs(first - median(later)) > max(later) - min(later):
            return (
                False,
                f"the {what} of the first run is {share(off)} off that of the others: more warming up is needed",
            )
    return True, f"no run shows it unsettled: the first is within {share(DRIFT)} or the spread of the others"


def subject_cpu(run: CertificationRun) -> float | None:
    accounts = run.accounts.values()
    return sum(account.subject for account in accounts) if all(not account.why for account in accounts) else None


def check_closure(runs: Sequence[CertificationRun]) -> tuple[bool, str]:
    """Whether the subject, others, idle and steal, measured apart, add up to the CPUs' time."""
    worst = max((closure_error(account) for run in runs for account in run.accounts.values()), default=0.0)
    sum_of_parts = "the subject, others, idle and steal, each by its own clock, make up the CPUs' time"
    return (
        worst <= CLOSES,
        f"{sum_of_parts} within {share(CLOSES)}" if worst <= CLOSES else f"{sum_of_parts} only within {share(worst)}",
    )


def closure_error(account: CpuAccount) -> float:
    """The relative error of that sum beyond the resolution of the clocks."""
    whole = account.whole_readings
    lacking = whole.capacity - account.measured
    off = max(lacking - whole.interrupts, 0.0) if lacking > 0 else -lacking
    return max(off - TICKS * account.cpus, 0.0) / whole.capacity if whole.capacity else 0.0


def check_trust(runs: Sequence[CertificationRun]) -> tuple[bool, str]:
    """Whether samples agree with the clocks of the subject's CPU time, which miss no process."""
    owns = [report.own for run in runs for report in run.recorded.metered.reports.values()]
    if doubt := next((own.doubt for own in owns if own.doubt), None):
        return False, f"the subject's CPU time is doubtful: {doubt}"
    if lossy := next((said for own in owns if (said := LOSSY.get(own.source))), None):
        return False, lossy
    return True, "samples agree with the clocks of the subject's CPU time, in which nothing is lost"


def check_steal(runs: Sequence[CertificationRun]) -> tuple[bool, str]:
    most = max((value for run in runs if (value := share_over_phases(run, "steal").value) is not None), default=0.0)
    limit = min((read_allowed(run.recorded).steal for run in runs), default=0.0)
    return most <= limit, f"the hypervisor took at most {share(most)} of the CPUs; {share(limit)} is the stated limit"


def check_others(runs: Sequence[CertificationRun]) -> tuple[bool, str]:
    """Whether others use little CPU time, which lengthens all times."""
    most = max((value for run in runs if (value := share_over_phases(run, "others").value) is not None), default=0.0)
    own = "the driver and the meters included"
    return most <= OTHERS, f"others, {own}, used at most {share(most)} of the CPUs; {share(OTHERS)} is the stated limit"


def share_over_phases(run: CertificationRun, name: str) -> RecordFigure:
    seconds = sum(account.seconds for account in run.accounts.values())
    parts = [run.other_use(phase, name) for phase in run.accounts]
    missing = next((part for part in parts if part.value is None), None)
    if missing or not seconds:
        return missing or RecordFigure(why="nothing was played")
    return RecordFigure(value=sum(part.value or 0.0 for part in parts) / seconds)


def check_utilization(runs: Sequence[CertificationRun]) -> tuple[bool, str]:
    worst = max(
        (each.subject / each.seconds for run in runs for each in run.accounts.values() if each.seconds),
        default=0.0,
    )
    return worst <= 1 + CLOSES, f"the subject used at most {share(worst)} of the CPUs in a phase"


def check_coverage(runs: Sequence[CertificationRun]) -> tuple[bool, str]:
    """Whether samples cover most of the CPU time that is split by cause."""
    least = min((account.coverage for run in runs for account in run.accounts.values()), default=0.0)
    most = "all" if share(least) == share(max(least, 1.0)) else f"at least {share(least)}"
    sentence = f"samples cover {most} of the subject's CPU time, and the rest is split like it"
    return least >= COVERAGE, f"{sentence}; {share(COVERAGE)} is needed"
