"""What a search that goes on takes from its folder: its plan and method, and the machine and tapes that it needs."""

import argparse
from pathlib import Path

from cuesta import machine
from cuesta.analysis.compare.comparability import differences, facts
from cuesta.analysis.search import Method
from cuesta.cli.options import raw_options
from cuesta.engine.folder import described_tapes
from cuesta.engine.job import Job
from cuesta.errors import InputError, UsageError
from cuesta.ledger.run_folder import read_run
from cuesta.plan import Plan, Settings, Step

OF_A_NEW_SEARCH = ("file", "most", "rule", "out")
"""Arguments, besides the settings of a plan, that a search which goes on cannot have."""


def resumed(arguments: argparse.Namespace) -> tuple[Plan, Method]:
    """The plan and the method of a search's folder. Raises UsageError or InputError."""
    folder: Path = arguments.resume
    if given := [*raw_options(arguments).flags, *(name for name in OF_A_NEW_SEARCH if getattr(arguments, name))]:
        flags = {"file": "a tape or plan", "limits": "--limit"}
        named = ", ".join(flags.get(name, f"--{name.replace('_', '-')}") for name in given)
        raise UsageError(f"--resume: the search goes on as it was begun, without {named}", "leave it out")
    run = read_run(folder)
    if not run.get("search"):
        raise InputError(f"{folder}: this run was no search, so that it cannot go on")
    try:
        settings = Settings.model_validate(run["plan"])
        method = Method.of(run["search"]["method"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{folder / 'run.json'}: the plan or the method of the search is damaged") from None
    return Plan(str(folder), settings, (Step({}, settings),)), method


def check_machine(folder: Path) -> None:
    """Raise InputError on another machine than that of the trials before: these would not be alike."""
    before, here = ({"machine": about} for about in (read_run(folder).get("machine"), machine.facts()))
    unlike = differences(facts(before), facts(here), ["machine"]) if isinstance(before["machine"], dict) else []
    if unlike:
        raise InputError(
            f"{folder}: {unlike[0]}, in the search and here", "resume it where it began, or begin a new search"
        )


def check_tapes(folder: Path, job: Job) -> None:
    """Raise InputError if a tape has changed since the search began: its trials would not be alike.

    Tapes are read from where they were, as they may name other files beside them.
    """
    recorded = read_run(folder).get("tapes")
    for name, tape in described_tapes(job).items():
        if not isinstance(recorded, dict) or recorded.get(name) != tape:
            raise InputError(
                f"{folder}: the tape `{name}` is not what it was when the search began",
                f"give it the text of {folder / tape['file']} again, or begin a new search",
            )
