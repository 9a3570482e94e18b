"""Makes the runs of a certification: one group of users, again and again, until enough runs count.

The first run warms the machine up and does not count. A run that does not count is kept under `excluded/` with the
reason, and repeated; at most as many as were asked for may be lost. The caller judges what a run is worth. After the
timed runs come those that are made for one figure each (`method`).
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cuesta.engine.job import Job, prepare
from cuesta.engine.kernel_threads import kernel_threads
from cuesta.engine.linkage import linkage
from cuesta.engine.local import Look, RunResult, run
from cuesta.engine.method import LINKAGE, METERED_EVERY, WARM_UP, Method
from cuesta.engine.runnable import count_runnable
from cuesta.errors import InputError
from cuesta.plan import Group, Plan, Step

EXCLUDED, SETTLING = "excluded", "settling"
"""Folders of runs that do not count (docs/certify.md)."""
TRIES = 2
"""Attempts at a run that is made for one figure."""

Judge = Callable[[Path], list[str]]
"""Says why a run does not count; empty if it does."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the runs go, and how many are wanted."""

    folder: Path
    runs: int


@dataclass(frozen=True, slots=True)
class CertifierResult:
    """Which runs count, and how the certification ended."""

    interrupted: bool
    counted: int
    """Timed runs that count."""
    excluded: dict[str, list[str]]
    """Runs that do not, and why."""
    failures: list[str]
    """Of the driver."""


def parts(plan: Plan) -> Iterator[tuple[Group, Job]]:
    """Split a plan into certifications, one for each group of users. Raises InputError for what cannot be certified."""
    if len(plan.steps) > 1:
        raise InputError(f"{plan.source}: sweep: a certification has no steps", "certify one setting at a time")
    for group in plan.settings.group:
        settings = plan.settings.model_copy(update={"group": (group,), "log_transactions": True})
        one = Plan(plan.source, settings, (Step({}, settings),))
        yield group, replace(prepare(one), metered_every=METERED_EVERY)


def certify(method: Method, place: Place, judge: Judge, look: Look, stopping: threading.Event) -> CertifierResult:
    """Make the runs. When `stopping` is set, it ends early and keeps what was measured."""
    excluded: dict[str, list[str]] = {}
    counted, failures = 0, list[str]()
    timed = absent if method.absentee else metered
    for number in range(1, WARM_UP + 1):
        failures += timed(method.timed, place.folder / SETTLING / f"run-{number}", look, stopping).failures
    while counted < place.runs and len(excluded) < place.runs and not (stopping.is_set() or failures):
        made = place.folder / f"run-{counted + 1}"
        ran = timed(method.timed, made, look, stopping)
        failures += ran.failures
        if why := [*ran.failures, *judge(made)]:
            lost = place.folder / EXCLUDED / f"run-{len(excluded) + 1}"
            lost.parent.mkdir(exist_ok=True)
            made.rename(lost)
            excluded[lost.name] = why
        else:
            counted += 1
    for what, job in method.apart.items() if counted else ():
        if stopping.is_set() or failures:
            break
        make = partial(linked if what == LINKAGE else metered, job, look=look, stopping=stopping)
        failures += apart(place.folder / what, make, judge)
    return CertifierResult(stopping.is_set(), counted, excluded, failures)


def apart(folder: Path, make: Callable[[Path], RunResult], judge: Judge) -> list[str]:
    """Make a run for one figure, once more if it does not count. Returns the failures of the driver."""
    folder.mkdir()
    for number in range(1, TRIES + 1):
        made = folder / f"run-{number}"
        ran = make(made)
        if ran.interrupted or ran.failures or not judge(made):
            return ran.failures
    return []


def metered(job: Job, folder: Path, look: Look, stopping: threading.Event) -> RunResult:
    """Make one run, and meter the kernel's own threads too."""
    with kernel_threads(folder, METERED_EVERY):
        return run(job, folder, look, stopping)


def absent(job: Job, folder: Path, look: Look, stopping: threading.Event) -> RunResult:
    """Make one run of a benchmark, and count its runnable tasks too."""
    with count_runnable(folder):
        return metered(job, folder, look, stopping)


def linked(job: Job, folder: Path, look: Look, stopping: threading.Event) -> RunResult:
    """Make one run whose programs' dynamic linkers report what they bind."""
    with linkage(folder, METERED_EVERY) as environment:
        return run(replace(job, environment=environment), folder, look, stopping)
