"""`cuesta check`: checks a tape or a plan, and prints how Cuesta reads it."""

import argparse
from pathlib import Path

from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit
from cuesta.workflow.check_tape import check_plan, check_tape


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    is_plan = arguments.file.endswith(".toml")
    check = check_plan(Path(arguments.file), Path.cwd()) if is_plan else check_tape(arguments.file, Path())
    if arguments.json != "-":
        say(check.text, arguments.json)
    write_json(arguments.json, check.data)
    return Exit.GOOD
