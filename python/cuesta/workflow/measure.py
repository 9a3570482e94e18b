"""Runs a plan: settings → job → engine → figures and page."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cuesta.engine.engines import LOCAL
from cuesta.engine.folder import check_empty
from cuesta.engine.job import Job, prepare, seconds_of_run
from cuesta.engine.plan_warnings import list_warnings
from cuesta.engine.run_job import run_job
from cuesta.line_kinds import without_settings
from cuesta.plan import RawOptions, load
from cuesta.plan.meter_places import hide_passwords
from cuesta.target import BUILTIN_HOST
from cuesta.units import count, join_words, many, minutes
from cuesta.workflow.control import Control
from cuesta.workflow.leftovers import warn_of_leftovers

if TYPE_CHECKING:
    from cuesta.workflow.run_result import Run


def prepare_run(options: RawOptions, here: Path, out: Path | None) -> Job:
    """Read and check everything that a run needs. Paths are relative to `here`; `out` is to be its folder."""
    if out:
        check_empty(out)
    return prepare(load(options, here))


def measure(job: Job, out: Path, control: Control) -> "Run":
    """Run a job into a folder and sum it up."""
    from cuesta.workflow.run_result import Run, finish  # noqa: PLC0415, a dry run shows no figures

    control.prepare_lines(job)
    console = replace(control.console, may_change_users=True)
    with control.open_engine(job.plan.settings) as engine:
        result = run_job(job, out, console, engine)
    return finish(result, Run)


def notices(job: Job, out: Path) -> Iterator[str]:
    """What is said before the run into `out`: one sentence about it, what an earlier run has left, notes on its tapes,
    warnings, and why it is not traced.
    """
    yield overview(job)
    yield from warn_of_leftovers(out)
    yield from (f"{tape.name}: {note}" for tape in job.tapes.values() for note in tape.notes)
    yield from list_warnings(job)
    meters = job.plan.settings.meters
    if untraced := LOCAL.why_untraced(meters):
        yield f"--meters {hide_passwords(meters)}: not traced: {untraced}"


def overview(job: Job) -> str:
    """One sentence: how many users play what at which host, and for how long."""
    steps = [step.settings for step in job.plan.steps]
    groups = [group for settings in steps for group in settings.group]
    *others, last = dict.fromkeys(sum(group.users for group in settings.group) for settings in steps)
    users = join_words([*map(count, others), many(last, "user")])
    tapes = ", ".join(dict.fromkeys(job.tape(group).name for group in groups))
    hosts = " and ".join(
        "the built-in host (another: --target URL)" if target == BUILTIN_HOST else without_settings(target)
        for target in dict.fromkeys(group.target for group in groups)
    )
    return f"{users} at {hosts}, tape {tapes}; about {minutes(seconds_of_run(job))}"
