"""What a run has for one figure of MPL-17's parts a and b, in one phase."""

from collections.abc import Callable

from cuesta.analysis.certify.fault_kinds import LOADING, NAMED
from cuesta.analysis.certify.run import CertificationRun
from cuesta.analysis.certify.sampling_error import less
from cuesta.ledger.record import Figure

Take = Callable[[CertificationRun, str], Figure]
"""A figure of a run and a phase."""


def used(trial: CertificationRun, phase: str) -> Figure:
    """Give the subject's CPU time without the loading of processes; with it where causes are not known."""
    own, loading = trial.cpu(phase), trial.cause(phase, LOADING)
    if own.value is None or loading.value is None:
        return own
    return less(own, loading)


def true_idle(trial: CertificationRun, phase: str) -> Figure:
    """Give idle without what a quota made of it: time in which the subject was barred is idle to the CPUs."""
    idle, barred = trial.rest(phase, "idle"), trial.rest(phase, "throttled")
    if idle.value is None or barred.value is None:
        return idle
    return Figure(value=idle.value - min(barred.value, idle.value))


def eligibility(trial: CertificationRun, phase: str) -> Figure:
    """Give the idle time in which the subject was ready and barred; at most all idle."""
    idle, barred = trial.rest(phase, "idle"), trial.rest(phase, "throttled")
    if idle.value is None or barred.value is None:
        return barred
    return Figure(value=min(barred.value, idle.value))


def daemon(trial: CertificationRun, phase: str) -> Figure:
    """Give the CPU time of kernel threads: as a cause where the whole machine is metered, else read beside it."""
    if is_machine(trial):
        return trial.cause(phase, "kernel_threads")
    found, others_ = trial.kernel_threads(phase), trial.rest(phase, "others")
    if found.value is None or others_.value is None:
        return found
    return Figure(value=min(found.value, others_.value))  # they are others to a process, and no more than those


def is_machine(trial: CertificationRun) -> bool:
    """Say whether the subject is all that ran."""
    about = trial.recorded.metered.about(0)
    return about is not None and about.subject.rpartition(": ")[2] == "machine"


def others(trial: CertificationRun, phase: str) -> Figure:
    """Give what others used beside the kernel's threads, which are others to a process."""
    found, own = trial.rest(phase, "others"), daemon(trial, phase)
    if found.value is None or own.value is None or is_machine(trial):
        return found
    return Figure(value=found.value - own.value)


def other(trial: CertificationRun, phase: str) -> Figure:
    """Give what is of no cause that the form names."""
    found = trial.accounts.get(phase)
    names = [name for name in found.causes if name not in NAMED] if found else []
    return trial.cause(phase, *names)


def rest(name: str) -> Take:
    """Take something that the CPUs did beside the subject."""
    return lambda trial, phase: trial.rest(phase, name)


def of_causes(*names: str) -> Take:
    """Take the subject's CPU time by some causes together."""
    return lambda trial, phase: trial.cause(phase, *names)
