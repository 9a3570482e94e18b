"""What a search that goes on takes from its folder: its plan and method, and the machine and tapes that it needs."""

from pathlib import Path

from cuesta import machine
from cuesta.analysis.compare.comparability import collect_facts, list_differences
from cuesta.analysis.search import Method
from cuesta.engine.folder import describe_tapes
from cuesta.engine.job import Job
from cuesta.errors import InputError
from cuesta.ledger.run_folder import read_run
from cuesta.plan import Plan, Settings, Step


def read_resumed_plan(folder: Path, here: Path) -> tuple[Plan, Method]:
    """The plan and the method of a search's folder. Raises InputError if it has none that can be read."""
    run = read_run(folder)
    if not run.get("search"):
        raise InputError(f"{folder}: this run was no search, so that it cannot go on")
    try:
        settings = Settings.model_validate(run["plan"])
        method = Method.from_json(run["search"]["method"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{folder / 'run.json'}: the plan or the method of the search is damaged") from None
    return Plan(str(folder), settings, (Step({}, settings),), here=here), method


def check_machine(folder: Path) -> None:
    """Raise InputError on another machine than that of the trials before: these would not be alike."""
    recorded = read_run(folder).get("machine")
    if not isinstance(recorded, dict):
        return
    before, here = (collect_facts({"machine": about}) for about in (recorded, machine.facts()))
    if unlike := list_differences(before, here, ["machine"]):
        raise InputError(
            f"{folder}: {unlike[0]}, in the search and here", "resume it where it began, or begin a new search"
        )


def check_tapes(folder: Path, job: Job) -> None:
    """Raise InputError if a tape has changed since the search began: its trials would not be alike.

    Tapes are read from where they were, as they may name other files beside them.
    """
    recorded = read_run(folder).get("tapes")
    for name, tape in describe_tapes(job).items():
        if not isinstance(recorded, dict) or recorded.get(name) != tape:
            raise InputError(
                f"{folder}: the tape `{name}` is not what it was when the search began",
                f"give it the text of {folder / tape['file']} again, or begin a new search",
            )
