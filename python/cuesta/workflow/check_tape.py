"""Checks a tape or a plan, and tells how Cuesta reads it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuesta.engine.tapes import read_tape
from cuesta.shipped_tapes import locate_tape

NEVER_ECHOED = ("Wait+Unlock", "Wait+Delivered")
"""Words of tapes for terminals that no host echoes: 3270s, and bisync stations."""


@dataclass(frozen=True, slots=True)
class Check:
    """A tape or a plan that can be used."""

    text: str
    """How it is read, for people."""
    data: Any
    """The same as data: the commands of a tape, the settings of a plan."""
    notes: Sequence[str] = ()
    """What was left out of a tape, or is read in another way than it is written."""


def check_tape(name: str, here: Path) -> Check:
    """Check a tape: a word, or a file. Raises InputError with the row, what was expected and what to do."""
    tape = read_tape(locate_tape(name, here))
    notes = list(tape.notes)
    if tape.content.is_idle():
        notes.append("it does nothing by itself, and `cuesta run` refuses it: it can only be a part of another tape")
    never_echoed = any(word in NEVER_ECHOED for word, _ in tape.content.outline())
    timeless = not (tape.times_echo or never_echoed)
    advice = "; no key is timed: `Set Echo screen` times each key to its echo" if timeless else ""
    rows = [tape.content.listing().rstrip(), *(f"note: {note}" for note in notes), f"OK: {name}{advice}"]
    return Check("\n".join(rows), json.loads(tape.content.commands()), notes)


def check_plan(path: Path, here: Path) -> Check:
    """Check a plan, with the tapes and users that it names. Raises InputError with the setting and what it expects."""
    from cuesta.engine.job import prepare  # noqa: PLC0415, a tape is checked without the schema of plans
    from cuesta.plan import RawOptions, load  # noqa: PLC0415
    from cuesta.workflow.dry_run import show_plan  # noqa: PLC0415

    job = prepare(load(RawOptions(plan=path), here))
    return Check(f"{show_plan(job)}\n\nOK: {path}", job.plan.settings.model_dump(mode="json"))
