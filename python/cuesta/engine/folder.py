"""Makes the run folder, writes `run.json`, and deletes the folder again if the run cannot start.

Only its owner may read it: it contains the host's address, the users' names and what the host showed.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cuesta import __version__
from cuesta.engine.job import Job
from cuesta.engine.ports import Nodes
from cuesta.engine.sharing import share_groups
from cuesta.errors import CuestaError
from cuesta.plan import Segment, Step
from cuesta.plan.meter_places import list_hosts
from cuesta.private_files import make_private, replace_json, write_private
from cuesta.target import BUILTIN_HOST, without_passwords

FORMAT = 1


def check_empty(folder: Path) -> None:
    """Raise CuestaError if there are files in a folder that is to be a run folder."""
    if folder.is_dir() and any(folder.iterdir()):
        raise CuestaError(f"{folder}: the run folder is not empty", "give a new one: --out FOLDER")


def new_folder(here: Path, name: str) -> Path:
    """A folder that does not exist yet: `runs/NAME-DATE-TIME` below `here`."""
    parent, name = here / "runs", f"{name}-{datetime.now():%Y-%m-%d-%H%M%S}"
    names = (parent / (name if number == 1 else f"{name}-{number}") for number in range(1, 1000))
    return next(path for path in names if not path.exists())


@contextmanager
def run_folder(folder: Path) -> Iterator[Path]:
    """Make the folder. If the run cannot start, delete what was made; a folder that existed before stays."""
    first_made = next((path for path in reversed([folder, *folder.parents]) if not path.exists()), None)
    _make(folder)
    try:
        yield folder
    except BaseException:
        if not any(path.stat().st_size for path in folder.glob("**/agent-*/series.jsonl")):
            _remove(folder, first_made)
        raise


def write_run(folder: Path, job: Job, started: datetime, nodes: Nodes) -> None:
    """Write `run.json` and the tapes, before the run starts."""
    (folder / "tapes").mkdir(mode=0o700)
    for tape in job.tapes.values():
        write_private(folder / "tapes" / f"{tape.name}.tape", tape.text)
    replace_json(folder / "run.json", {**describe_run(job, started), **nodes.describe()})


def read_run(folder: Path) -> dict[str, Any]:
    """The content of `run.json`."""
    run: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return run


def change_run(folder: Path, changes: Mapping[str, object]) -> None:
    """Change entries of `run.json`; a reader sees the file before or after, never between."""
    replace_json(folder / "run.json", {**read_run(folder), **changes})


def describe_run(job: Job, started: datetime) -> dict[str, Any]:
    """`run.json` without the machine."""
    settings = job.plan.settings
    return {
        "format": FORMAT,
        "cuesta": __version__,
        "name": settings.name,
        "command": [without_passwords(word) for word in job.plan.command],
        "started": started.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "seed": settings.seed,
        "agents": share_groups(settings).agents,
        "plan": settings.model_dump(mode="json"),
        "steps": [describe_step(step) for step in job.plan.steps],
        "segments": [_segment(segment) for segment in job.plan.segments()],
        "tapes": describe_tapes(job),
        "transactions": list_transactions(job),
        "users": {group.data: job.describe_users(group) for group in settings.group if group.data},
        "host": _host(job),
        **_metered(job),
    }


def describe_step(step: Step) -> dict[str, Any]:
    """A step as `run.json` has it."""
    settings = step.settings.model_dump(mode="json", include={"settle", "measure", "group"})
    return {"swept": dict(step.swept), **settings}


def _segment(segment: Segment) -> dict[str, object]:
    """The segment's folder and its steps' numbers in the plan; its own records number them from 0."""
    return {"folder": segment.folder, "steps": list(range(segment.first, segment.first + len(segment.steps)))}


def describe_tapes(job: Job) -> dict[str, dict[str, str]]:
    """By name: where the folder has a tape, and the hash of its text."""
    return {
        tape.name: {
            "file": f"tapes/{tape.name}.tape",
            "sha256": hashlib.sha256(tape.text.encode()).hexdigest(),
        }
        for tape in job.tapes.values()
    }


def list_transactions(job: Job) -> dict[str, list[str]]:
    """By group: the transactions of its tapes, in their order."""
    names = dict[str, dict[str, None]]()
    for step in job.plan.steps:
        for group in step.settings.group:
            names.setdefault(group.name, {}).update(dict.fromkeys(job.tape(group).content.transactions()))
    return {group: list(of_group) for group, of_group in names.items()}


def _host(job: Job) -> dict[str, object]:
    targets = list(dict.fromkeys(group.target for step in job.plan.steps for group in step.settings.group))
    return {"builtin": BUILTIN_HOST in targets, "targets": targets}


def _metered(job: Job) -> dict[str, list[str]]:
    """The names of the hosts that are metered, if they are several."""
    names = [host.name for host in list_hosts(job.plan.settings.meters)]
    return {"metered": names} if len(names) > 1 else {}


def _make(folder: Path) -> None:
    try:
        make_private(folder)
        check_empty(folder)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CuestaError(
            f"{folder}: cannot write a run folder there: {(error.strerror or str(error)).lower()}",
            "give a folder that can be written: --out FOLDER",
        ) from None


def _remove(folder: Path, first_made: Path | None) -> None:
    """Delete what this run made, but keep a folder that holds other files."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    while first_made and folder.is_relative_to(first_made) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
