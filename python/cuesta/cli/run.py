"""`cuesta run`: emulates users who type at a host, records the run and summarises it."""

import argparse
from pathlib import Path

from cuesta.cli.control import control_run
from cuesta.cli.interrupts import catch_interrupts
from cuesta.cli.options import raw_options
from cuesta.cli.output import check_json, say, show_run, write_json
from cuesta.engine.folder import new_folder
from cuesta.errors import Exit
from cuesta.terminal import inform
from cuesta.workflow.dry_run import plan_data, show_plan
from cuesta.workflow.measure import measure, notices, prepare_run
from cuesta.workflow.web_pages import refuse_page


def carry_out(arguments: argparse.Namespace) -> int:
    if arguments.as_node:
        from cuesta.engine.ssh_nodes import node_session  # noqa: PLC0415, only nodes need it

        node_session.serve()
        return Exit.GOOD
    check_json(arguments.json)
    if not arguments.dry_run:
        refuse_page(arguments.target)
    job = prepare_run(raw_options(arguments), Path.cwd(), arguments.out)
    if arguments.dry_run:
        if arguments.json != "-":
            say(show_plan(job), arguments.json)
        write_json(arguments.json, plan_data(job))
        return Exit.GOOD
    settings = job.plan.settings
    folder = arguments.out or new_folder(Path(), settings.name)
    for notice in () if arguments.quiet else notices(job, folder):
        inform(f"cuesta: {notice}")
    with catch_interrupts() as stopping:
        with control_run(arguments, stopping, settings.name, folder, settings) as control:
            run = measure(job, folder, control)
        # Inside the block, so that a first Ctrl-C during the summary does not lose it.
        show_run(run, arguments.verbose, arguments.json)
        return Exit.INTERRUPTED if stopping.is_set() else run.exit
