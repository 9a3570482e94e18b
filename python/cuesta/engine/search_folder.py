"""The run folder of a search: each trial is added to `run.json` as it begins. One process at a time goes on with it."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cuesta.engine.folder import change_run, describe_step, read_run, run_folder
from cuesta.errors import CuestaError
from cuesta.plan import Segment, Step

OF_A_SEGMENT = ("agent-*", "agents.jsonl", "host", "meters*.jsonl")
"""What a segment makes in its folder (docs/folder.md)."""


@contextmanager
def search_folder(out: Path) -> Iterator[Path]:
    """Make the folder, or take one with a search in it. Raises CuestaError if another process searches there."""
    if (out / "run.json").exists():
        with _lock_folder(out):
            yield out
    else:
        with run_folder(out) as folder, _lock_folder(folder):
            yield folder


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(opened, folder)
        yield
    finally:
        os.close(opened)


def _lock(opened: int, folder: Path) -> None:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CuestaError(f"{folder}: this search is going on in another process", "wait for its end") from None


def describe_search(folder: Path, method: Mapping[str, object]) -> None:
    """Say in `run.json` that the run is a search, without trials yet."""
    change_run(folder, {"steps": [], "segments": [], "search": dict(method)})


def note_end(folder: Path, why: str | None) -> None:
    """Record why a search ended before its trials told the limit, or that it goes on."""
    others = {name: value for name, value in read_run(folder)["search"].items() if name != "ended"}
    change_run(folder, {"search": others if why is None else {**others, "ended": why}})


def begin_segment(folder: Path, step: Step) -> Segment:
    """Record a segment that begins with a step, in the place of one that ended before its first trial."""
    run = read_run(folder)
    segment = Segment(len(run["steps"]), (step,))
    for pattern in OF_A_SEGMENT:
        for path in (folder / segment.folder).glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    others = [each for each in run["segments"] if each["steps"]]
    change_run(folder, {"segments": [*others, {"folder": segment.folder, "steps": []}]})
    return segment


def record_trial(folder: Path, step: Step, note: Mapping[str, object]) -> None:
    """Add a step and what it is for to the present segment."""
    run = read_run(folder)
    number = len(run["steps"])
    *others, segment = run["segments"]
    segments = [*others, {**segment, "steps": [*segment["steps"], number]}]
    steps = [*run["steps"], {**describe_step(step), "trial": dict(note)}]
    change_run(folder, {"steps": steps, "segments": segments})


def note_backlog(folder: Path, seconds: float, *, is_drained: bool) -> None:
    """Record how long the last trial waited for the backlog of the one before it, and whether that was worked off."""
    *others, last = read_run(folder)["steps"]
    trial = {**last["trial"], "backlog": {"seconds": round(seconds, 3), "drained": is_drained}}
    change_run(folder, {"steps": [*others, {**last, "trial": trial}]})
