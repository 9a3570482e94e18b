"""`cuesta compare TARGET TARGET`: makes pairs of short runs until it is clear whether the new version is worse."""

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cuesta.cli.control import control_run, is_published
from cuesta.cli.interrupts import catch_interrupts
from cuesta.cli.options import engine_flags
from cuesta.cli.output import say, write_json
from cuesta.engine.console import look_away
from cuesta.engine.folder import check_empty, new_folder
from cuesta.errors import CuestaError, UsageError
from cuesta.private_files import private
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
from cuesta.workflow.make_versions import PlannedVersions
from cuesta.workflow.neighbours import Neighbours


def carry_out(arguments: argparse.Namespace) -> int:
    check_outputs(arguments)
    planned = plan_comparison(arguments)
    for notice in notices(planned):
        inform(f"cuesta: {notice}")
    with catch_interrupts() as stopping:
        folder = arguments.out or new_folder(Path(), "compare")
        with control_run(arguments, stopping, "comparison", folder) as control:
            unseen = replace(control.console, observer=look_away)
            is_seen = sys.stderr.isatty() or is_published(arguments)
            compared = run_versions(planned, folder, control if is_seen else replace(control, console=unseen))
        return show(compared, arguments)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Raise before the first run what would be raised after the last."""
    if arguments.out:
        check_empty(arguments.out)
    if arguments.markdown and not os.access(arguments.markdown.absolute().parent, os.W_OK):
        raise UsageError(f"cuesta compare: --markdown {arguments.markdown}: cannot write there", "give another file")


def plan_comparison(arguments: argparse.Namespace) -> PlannedVersions:
    margin, budget = read_margin(arguments.margin or MARGIN), read_budget(arguments.budget or BUDGET)
    return prepare_versions(
        arguments.folders,
        arguments.tape,
        VersionsSettings(margin, budget, arguments.figure, arguments.despite),
        Path.cwd(),
        environment=dict(os.environ),
        flags={**engine_flags(arguments), **({"data": arguments.data} if arguments.data else {})},
        command=sys.argv,
        revisions=arguments.revisions,
        build=arguments.build,
        neighbours=Neighbours(arguments.beside, arguments.sessions, arguments.sessions_tape),
    )


def notices(planned: PlannedVersions) -> Iterator[str]:
    """What is said before the first run."""
    revisions, record = planned.revisions, planned.record
    if record.is_default_tape:
        yield f"no --tape: users type the text of the tape `{record.tape}`, and look at its echo"
    if revisions and revisions.base.commit == revisions.new.commit:
        yield f"both revisions are the commit {revisions.base.commit[:10]}"
    if revisions and (named := find_program(record.targets[0])):
        yield f"both revisions start {named}: what is compared is what it reads of its own folder"
    if revisions and revisions.has_uncommitted_changes:
        yield "changes in this folder that are not committed are in neither revision"


def find_program(target: str) -> str | None:
    """The file that a target starts if PATH has it, and if no word names a file; None if it is of its own folder."""
    try:
        words = shlex.split(target.partition(":")[2])
    except ValueError:
        return None
    return None if not words or any("/" in word or "." in word for word in words) else shutil.which(words[0])


def show_folder(folder: Path, arguments: argparse.Namespace) -> int:
    """Derive a comparison again."""
    return show(read_comparison(folder), arguments)


def show(compared: Versions, arguments: argparse.Namespace) -> int:
    page = compared.page()
    say(compared.text(colour=None), arguments.json)
    write_json(arguments.json, compared.json())
    if arguments.markdown:
        append_markdown(compared, arguments.markdown)
    say(f"\nRUNS       {compared.folder}\nPAGE       {page}", arguments.json)
    return compared.exit


def append_markdown(compared: Versions, file: Path) -> None:
    """Append the comparison to a file, as `$GITHUB_STEP_SUMMARY` is one, or to standard output if it is `-`."""
    if str(file) == "-":
        say(compared.markdown(), None)
        return
    try:
        with open(file, "a", encoding="utf-8", opener=private) as output:
            output.write(compared.markdown())
    except OSError as error:
        raise CuestaError(f"{file}: cannot write: {error.strerror}") from None
