"""`cuesta run`: emulates users who type at a host, records the run and summarises it."""

import argparse
from pathlib import Path

from cuesta.cli.interrupts import interrupts
from cuesta.cli.options import raw_options
from cuesta.cli.output import check_json, say, show_run, write_json
from cuesta.engine.folder import new_folder
from cuesta.errors import Exit
from cuesta.terminal import inform
from cuesta.workflow.control import Control
from cuesta.workflow.dry_run import plan_data, show_plan
from cuesta.workflow.measure import measure, notices, prepare_run


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    job = prepare_run(raw_options(arguments), Path.cwd(), arguments.out)
    if arguments.dry_run:
        if arguments.json != "-":
            say(show_plan(job), arguments.json)
        write_json(arguments.json, plan_data(job))
        return Exit.GOOD
    for notice in () if arguments.quiet else notices(job):
        inform(f"cuesta: {notice}")
    from cuesta.live import watching  # noqa: PLC0415, a dry run shows no progress

    with interrupts() as stopping, watching(arguments.quiet) as look:
        run = measure(job, arguments.out or new_folder(Path(), job.plan.settings.name), Control(look, stop=stopping))
        # Inside the block, so that a first Ctrl-C during the summary does not lose it.
        show_run(run, arguments.verbose, arguments.json)
        return Exit.INTERRUPTED if stopping.is_set() else run.exit
