"""`cuesta check`: checks a tape or a plan, and prints how Cuesta reads it."""

import argparse
import json
from pathlib import Path
from typing import Any

from cuesta.cli.output import check_json, say, write_json
from cuesta.engine.tapes import read_tape
from cuesta.errors import Exit


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    if arguments.file.endswith(".toml"):
        text, data = _plan(Path(arguments.file))
    else:
        text, data = _tape(arguments.file)
    if arguments.json != "-":
        say(text, arguments.json)
    write_json(arguments.json, data)
    return Exit.GOOD


NEVER_ECHOED = ("Wait+Unlock", "Wait+Delivered")
"""Words of tapes for terminals that no host echoes: 3270s, and bisync stations."""


def _tape(where: str) -> tuple[str, Any]:
    tape = read_tape(where)
    notes = [f"note: {note}" for note in tape.notes]
    if tape.content.is_idle():
        notes.append(
            "note: it does nothing by itself, and `cuesta run` refuses it: it can only be a part of another tape"
        )
    never_echoed = any(word in NEVER_ECHOED for word, _ in tape.content.outline())
    timeless = not (tape.times_echo or never_echoed)
    advice = "; no key is timed: `Set Echo screen` times each key to its echo" if timeless else ""
    text = "\n".join([tape.content.listing().rstrip(), *notes, f"OK: {where}{advice}"])
    return text, json.loads(tape.content.commands())


def _plan(path: Path) -> tuple[str, Any]:
    from cuesta.engine.job import prepare  # noqa: PLC0415
    from cuesta.plan import RawOptions, load  # noqa: PLC0415
    from cuesta.workflow.dry_run import show_plan  # noqa: PLC0415, a tape is checked without the schema of plans

    job = prepare(load(RawOptions(plan=path), Path.cwd()))
    return f"{show_plan(job)}\n\nOK: {path}", job.plan.settings.model_dump(mode="json")
