"""`cuesta check`: how a tape or a plan is understood."""

import argparse
import json
from pathlib import Path
from typing import Any

from cuesta.cli.dry_run import show_plan
from cuesta.cli.output import check_json, say, write_json
from cuesta.engine import prepare, read_tape
from cuesta.errors import Exit
from cuesta.plan import RawOptions, load

NAME = "check"
HELP = "say how a tape or a plan is understood"
ABOUT = """Parses a tape or a plan, with everything that the plan names, and prints how it is understood.
What is wrong is said with row, column and a hint; the exit code is then 104. Nothing is contacted."""
EXAMPLES = """examples:
  cuesta check login.tape                the commands, as understood
  cuesta check login.tape --json -       the same as data
  cuesta check nightly.toml              the plan with its steps, and every tape in it
  cuesta check builtin:interactive       the tape of the main job
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("file", metavar="TAPE|PLAN", help="a tape, or a plan (a file that ends in .toml)")
    parser.add_argument("--json", metavar="FILE|-", help="write it as data; - = standard output")


def carry_out(arguments: argparse.Namespace) -> int:
    """Check it."""
    check_json(arguments.json)
    if arguments.file.endswith(".toml"):
        text, data = _plan(Path(arguments.file))
    else:
        text, data = _tape(arguments.file)
    if arguments.json != "-":
        say(text, arguments.json)
    write_json(arguments.json, data)
    return Exit.GOOD


def _tape(where: str) -> tuple[str, Any]:
    tape = read_tape(where)
    notes = [f"note: {note}" for note in tape.notes]
    return "\n".join([tape.script.listing().rstrip(), *notes]), json.loads(tape.script.commands())


def _plan(path: Path) -> tuple[str, Any]:
    job = prepare(load(RawOptions(plan=path), Path.cwd()))
    return show_plan(job), job.plan.settings.model_dump(mode="json")
