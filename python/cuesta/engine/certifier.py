"""Makes the runs of a certification: repeats the run of one group of users until enough runs count.

The first run warms the machine up and does not count. The caller judges whether a run counts. One that does not is
moved to `excluded/` and repeated; as many runs as were requested may be excluded, then the certification ends. After
the timed runs come the extra runs, each made for one figure (`method`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cuesta.engine.console import Console
from cuesta.engine.engines import LOCAL
from cuesta.engine.job import Job, prepare
from cuesta.engine.method import METERED_EVERY, WARM_UP, Method
from cuesta.engine.ports import Engine
from cuesta.engine.run_job import Judge, run_job
from cuesta.errors import InputError
from cuesta.plan import Group, Plan, Step
from cuesta.records.observation import RunOfSeries

EXCLUDED, SETTLING = "excluded", "settling"
"""Folders of runs that do not count (docs/certify.md). `ledger.certification`, which reads them, repeats these names:
the engine may not import the ledger."""
TRIES = 2
"""Attempts at each extra run."""


@dataclass(frozen=True, slots=True)
class Series:
    """The timed runs to make: the folder that receives them, and how many must count."""

    folder: Path
    runs: int


@dataclass(frozen=True, slots=True)
class CertifierResult:
    """Which runs count, and how the certification ended."""

    interrupted: bool
    counted: int
    """Timed runs that count."""
    excluded: dict[str, list[str]]
    """Runs that do not count, and why."""
    failures: list[str]
    """Failures of the driver."""


def split_by_group(plan: Plan) -> Iterator[tuple[Group, Job]]:
    """Split a plan into certifications, one for each group of users. Raises InputError if the plan has a sweep."""
    if len(plan.steps) > 1:
        raise InputError(f"{plan.source}: sweep: a certification has no steps", "certify one setting at a time")
    for group in plan.settings.group:
        settings = plan.settings.model_copy(update={"group": (group,), "log_transactions": True})
        yield group, replace(prepare(plan.with_step(Step({}, settings))), metered_every=METERED_EVERY)


def certify(method: Method, series: Series, judge: Judge, console: Console, engine: Engine = LOCAL) -> CertifierResult:
    """Make the runs. If `console.stop` is set, end early; the folders keep what was measured."""
    excluded: dict[str, list[str]] = {}
    counted, failures = 0, list[str]()
    for number in range(1, WARM_UP + 1):
        folder = series.folder / SETTLING / f"run-{number}"
        warm_up = console.in_series(RunOfSeries(what="run", number=number, of=WARM_UP, name="warm-up"))
        failures += run_job(method.timed, folder, warm_up, engine).failures
    while counted < series.runs and len(excluded) < series.runs and not (console.stop.is_set() or failures):
        folder = series.folder / f"run-{counted + 1}"
        timed = RunOfSeries(what="run", number=counted + 1, of=series.runs, discarded=len(excluded))
        result = run_job(method.timed, folder, console.in_series(timed), engine)
        failures += result.failures
        if why := [*result.failures, *judge(folder)]:
            aside = series.folder / EXCLUDED / f"run-{len(excluded) + 1}"
            aside.parent.mkdir(mode=0o700, exist_ok=True)
            folder.rename(aside)
            excluded[aside.name] = why
        else:
            counted += 1
    for what, job in method.extra.items() if counted else ():
        if console.stop.is_set() or failures:
            break
        failures += run_extra(series.folder / what, job, judge, console, engine)
    return CertifierResult(console.stop.is_set(), counted, excluded, failures)


def run_extra(folder: Path, job: Job, judge: Judge, console: Console, engine: Engine) -> list[str]:
    """Make an extra run; repeat it once if it does not count. Returns the failures of the driver."""
    folder.mkdir(mode=0o700)
    for number in range(1, TRIES + 1):
        attempt = folder / f"run-{number}"
        extra = RunOfSeries(what="run", number=1, of=1, name=folder.name, discarded=number - 1)
        result = run_job(job, attempt, console.in_series(extra), engine)
        if result.interrupted or result.failures or not judge(attempt):
            return result.failures
    return []
