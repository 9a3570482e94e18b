"""`cuesta compare TARGET TARGET`: makes pairs of short runs until it is clear whether the new version is worse."""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from cuesta.cli.control import control_run
from cuesta.cli.output import say, write_json
from cuesta.engine.folder import check_empty, new_folder
from cuesta.terminal import inform
from cuesta.workflow.compare_versions import (
    BUDGET,
    MARGIN,
    Versions,
    VersionsSettings,
    prepare_versions,
    read_budget,
    read_comparison,
    read_margin,
    run_versions,
)
from cuesta.workflow.control import ignore


def carry_out(arguments: argparse.Namespace) -> int:
    settings = VersionsSettings(
        read_margin(arguments.margin or MARGIN),
        read_budget(arguments.budget or BUDGET),
        arguments.figure,
        arguments.despite,
    )
    base, new = arguments.folders
    if arguments.out:
        check_empty(arguments.out)
    flags = {"data": arguments.data} if arguments.data else {}
    here, environment = Path.cwd(), dict(os.environ)
    planned = prepare_versions(
        (base, new), arguments.tape, settings, here, environment=environment, flags=flags, command=sys.argv
    )
    if planned.record.is_default_tape:
        inform(f"cuesta: no --tape: users type the text of the tape `{planned.record.tape}`, and look at its echo")
    with control_run(arguments.quiet) as control:
        watched = control if sys.stderr.isatty() else replace(control, observer=ignore)
        compared = run_versions(planned, arguments.out or new_folder(Path(), "compare"), watched)
        return show(compared, arguments)


def show_folder(folder: Path, arguments: argparse.Namespace) -> int:
    """Derive a comparison again."""
    return show(read_comparison(folder), arguments)


def show(compared: Versions, arguments: argparse.Namespace) -> int:
    page = compared.page()
    say(compared.text(colour=None), arguments.json)
    write_json(arguments.json, compared.json())
    say(f"\nRUNS       {compared.folder}\nPAGE       {page}", arguments.json)
    return compared.exit
