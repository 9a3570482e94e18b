"""`cuesta search`: finds the largest load that meets an objective, and reports it."""

import argparse
from pathlib import Path

from cuesta.cli.control import control_run
from cuesta.cli.interrupts import catch_interrupts
from cuesta.cli.options import raw_options
from cuesta.cli.output import check_json, say, show_run, write_json
from cuesta.engine.folder import new_folder
from cuesta.errors import Exit, UsageError
from cuesta.workflow.dry_run import plan_data, show_plan
from cuesta.workflow.find_limit import PlannedSearch, SearchTerms, find_limit, prepare_resumed, prepare_search
from cuesta.workflow.web_pages import refuse_page

OF_A_NEW_SEARCH = ("file", "most", "rule", "out")
"""Arguments, besides the settings of a plan, that a search which goes on cannot have."""


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    if not arguments.dry_run:
        refuse_page(arguments.target)
    planned = _plan_search(arguments)
    if arguments.dry_run:
        return _dry_run(planned, arguments.json)
    settings = planned.settings
    with catch_interrupts() as stopping:
        folder = arguments.resume or arguments.out or new_folder(Path(), settings.name)
        with control_run(arguments, stopping, settings.name, folder, settings) as control:
            control.tell(f"cuesta: {planned.overview()}")
            search = find_limit(planned, folder, control)
        show_run(search, arguments.verbose, arguments.json)
        return Exit.INTERRUPTED if stopping.is_set() else search.exit


def _plan_search(arguments: argparse.Namespace) -> PlannedSearch:
    options = raw_options(arguments)
    terms = SearchTerms(arguments.most, arguments.rule or "regression", arguments.budget)
    if not arguments.resume:
        return prepare_search(options, terms, Path.cwd(), arguments.out)
    if given := [*options.flags, *(name for name in OF_A_NEW_SEARCH if getattr(arguments, name))]:
        flags = {"file": "a tape or plan", "limits": "--limit"}
        named = ", ".join(flags.get(name, f"--{name.replace('_', '-')}") for name in given)
        raise UsageError(f"--resume: the search goes on as it was begun, without {named}", "leave it out")
    return prepare_resumed(arguments.resume, arguments.budget, Path.cwd())


def _dry_run(planned: PlannedSearch, where: str | None) -> int:
    """Show the first trial, and what is searched."""
    if where != "-":
        say(show_plan(planned.first_trial, ["SEARCH", f"  {planned.overview()}", "  above is the first trial"]), where)
    write_json(where, {**plan_data(planned.first_trial), "search": planned.method.json()})
    return Exit.GOOD
