"""`cuesta tapes`: lists the tapes that ship with Cuesta, or prints one."""

import argparse
from dataclasses import asdict

from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit
from cuesta.terminal import show
from cuesta.workflow.list_tapes import list_tapes, show_tape


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    if arguments.word:
        tape = show_tape(arguments.word)
        if arguments.json != "-":
            show(tape.text, end="")
        write_json(arguments.json, asdict(tape))
        return Exit.GOOD
    tapes = list_tapes()
    if arguments.json != "-":
        say(tapes.text(), arguments.json)
    write_json(arguments.json, tapes.json())
    return Exit.GOOD
