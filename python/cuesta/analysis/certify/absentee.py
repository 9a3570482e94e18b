"""Warns if a benchmark does not represent the service: if it goes idle, or leaves out work that the service does.

The Multics benchmark of 1974 ran 20 absentee processes. It was idle for 12 % of its time and paged half as much as the
service, so it could not show a change of the scheduler that helped the service.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean

from cuesta.analysis.certify.certification_run import CertificationRun
from cuesta.analysis.certify.grade import share_over_phases
from cuesta.analysis.representative import compare_mixes, derive_mix
from cuesta.ledger.certification import SERVICE_PROFILE, Certification
from cuesta.ledger.service import read_service_profile
from cuesta.units import digits, share

IDLE = 0.05
"""Idle share of the CPUs from which on to warn. If the benchmark's tasks were sampled, it is its own idle, because
other work on the machine reduces the idle time of the CPUs.
"""


def warn_unrepresentative(certification: Certification, runs: Sequence[CertificationRun]) -> list[str]:
    """Why a benchmark does not represent the service; empty for a certification."""
    if certification.given.kind != "benchmark" or not runs:
        return []
    return [*warn_of_idle(certification.given.pauses, runs), *warn_of_missing_work(certification, runs)]


def warn_of_idle(pauses: float, runs: Sequence[CertificationRun]) -> Iterator[str]:
    own = [value for run in runs if (value := run.own_idle("command").value) is not None]
    shares = own or [value for run in runs if (value := share_over_phases(run, "idle").value) is not None]
    if not shares or (idle := fmean(shares)) <= IDLE:
        return
    users, cpus = runs[0].times.users, max(account.cpus for account in runs[0].accounts.values())
    if pauses:
        why = f"its script pauses for {digits(pauses)} s"
    elif users < cpus:
        why = f"there are fewer processes than CPUs ({users} and {cpus})"
    else:
        why = "its processes wait for something that is no device (each other, a lock, a child), or end one by one"
    whose = "its own processes leave" if own else "nobody uses"
    yield (
        f"the benchmark goes idle: {whose} {share(idle)} of the CPUs, above {share(IDLE)}: {why}. "
        "Its elapsed time cannot show what a change of CPU time is worth"
    )


def warn_of_missing_work(certification: Certification, runs: Sequence[CertificationRun]) -> Iterator[str]:
    """Work of the service's profile that the benchmark does not do."""
    file = certification.folder / SERVICE_PROFILE
    if not file.exists():
        return
    reports = [report for run in runs if (report := run.recorded.metered.reports.get(0))]
    if not reports:
        yield "whether it does what the service does cannot be told: no meter data"
        return
    distance = compare_mixes(derive_mix(read_service_profile(file).report), derive_mix(reports[0]))
    for what in distance.unexercised:
        yield f"the benchmark does not exercise what the service does: {what}"
    if distance.idles is not None:
        yield f"the benchmark idles {distance.idles:.1f} points more than the service"
