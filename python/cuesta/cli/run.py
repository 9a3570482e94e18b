"""`cuesta run`: emulates users who type at a host, records the run and summarises it."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from cuesta.cli.dry_run import duration, plan_data, show_plan
from cuesta.cli.interrupts import interrupts
from cuesta.cli.options import raw_options
from cuesta.cli.output import check_json, say, write_derived, write_json
from cuesta.engine.folder import check_empty
from cuesta.engine.foresight import warnings
from cuesta.engine.job import Job, prepare
from cuesta.engine.local.meter_source import why_untraced
from cuesta.engine.run_job import RunResult, run_job
from cuesta.errors import Exit
from cuesta.line_kinds import without_settings
from cuesta.plan import load
from cuesta.target import BUILTIN_HOST, without_passwords
from cuesta.terminal import inform
from cuesta.units import count, many, minutes


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    if arguments.out:
        check_empty(arguments.out)
    job = prepare(load(raw_options(arguments), Path.cwd()))
    if arguments.dry_run:
        if arguments.json != "-":
            say(show_plan(job), arguments.json)
        write_json(arguments.json, plan_data(job))
        return Exit.GOOD
    for notice in () if arguments.quiet else notices(job):
        inform(f"cuesta: {notice}")
    from cuesta.live import watching  # noqa: PLC0415, a dry run shows no progress

    with interrupts() as stopping, watching(arguments.quiet) as look:
        result = run_job(job, arguments.out, look, stopping)
        # Inside the block, so that a first Ctrl-C during the summary does not lose it.
        code = _sum_up(result, arguments)
        return Exit.INTERRUPTED if stopping.is_set() else code


def notices(job: Job) -> Iterator[str]:
    """What is printed before the run: one sentence about it, notes on its tapes, warnings, and why it is not traced."""
    yield overview(job)
    yield from (f"{tape.name}: {note}" for tape in job.tapes.values() for note in tape.notes)
    yield from warnings(job)
    meters = job.plan.settings.meters
    if untraced := why_untraced(meters):
        yield f"--meters {without_passwords(meters)}: not traced: {untraced}"


def overview(job: Job) -> str:
    """One sentence: how many users play what at which host, and for how long."""
    steps = [step.settings for step in job.plan.steps]
    groups = [group for settings in steps for group in settings.group]
    *others, last = dict.fromkeys(sum(group.users for group in settings.group) for settings in steps)
    users = f"{', '.join(map(count, others))} and {many(last, 'user')}" if others else many(last, "user")
    tapes = ", ".join(dict.fromkeys(job.tape(group).name for group in groups))
    hosts = " and ".join(
        "the built-in host (another: --target URL)" if target == BUILTIN_HOST else without_settings(target)
        for target in dict.fromkeys(group.target for group in groups)
    )
    return f"{users} at {hosts}, tape {tapes}; about {minutes(duration(job))}"


def _sum_up(result: RunResult, arguments: argparse.Namespace) -> int:
    """Derive, write and print the summary. An invalid run has precedence over a limit in the exit code."""
    from cuesta import analysis  # noqa: PLC0415, late because plots are slow to load
    from cuesta.report.run_report import text  # noqa: PLC0415

    summary = analysis.summarise(result.folder)
    say(text(summary, verbose=arguments.verbose), arguments.json)
    is_written = write_derived(result.folder, summary)
    write_json(arguments.json, summary.json())
    for failure in result.failures:
        inform(f"cuesta: {failure}")
    if not summary.valid:
        return Exit.INVALID
    if not is_written:
        return Exit.FAILED
    return {True: Exit.GOOD, False: Exit.LIMIT, None: Exit.INCONCLUSIVE}[summary.limits_ok]
