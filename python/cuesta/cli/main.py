"""The command line: finds the verb, calls it, and prints errors with their remedy.

`--version`, `--help` and `VERB --help` stay quick: they import `verbs/VERB.py`, which has only the verb's arguments.
`VERB.py`, which does the work and loads slow modules, is imported only when the verb runs.
"""

import argparse
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from cuesta import __version__
from cuesta.cli.parser import Parser
from cuesta.errors import CuestaError, Exit, UsageError
from cuesta.terminal import inform

VERBS = {
    "run": "emulate users who type at a host, and measure",
    "certify": "certify a system: repeated runs in two phases, MPL-17's form, hashes, signature",
    "predict": "predict other loads from runs or a table, or refuse",
    "compare": "compare runs: faster, slower, equivalent, or not enough to tell",
    "ledger": "list certified systems and goals; query all runs by SQL; check typed tables",
    "live": "look at runs, certifications and the ledger in a browser",
    "report": "show a run, or several side by side: a page, Markdown, JUnit",
    "host": "run the built-in host",
    "tmux": "multiplex the small segments between two hosts into few datagrams (RFC 1692)",
    "meters": "meter this Linux host: CPU, idle by kind, faults, queues, devices",
    "search": "find the largest number of users that meets an objective",
    "record": "make a tape of what you type",
    "tapes": "list the tapes that ship with Cuesta, or print one",
    "check": "check a tape or a plan, and show how Cuesta reads it",
}
"""Each verb with its one line of help."""

ABOUT = """How many people can use this system at once, and how will it feel to type on it?

cuesta emulates terminal users, times every key and every answer, and says whether its numbers can be trusted.
"""

EXAMPLES = """examples:
  cuesta run                                  the main job: 96 users type at the built-in host
  cuesta run login.tape --target telnet://10.0.0.7:23 --users 20
  cuesta compare base/ new/                   is it faster or slower, as far as runs can tell
  cuesta record -- bash                       make a tape of what you type
  cuesta check login.tape                     check a tape, and show how it is read
  cuesta host --listen telnet://127.0.0.1:2300

exit codes: 0 good, 1 failed, 2 usage, 90 changed, 91 inconclusive, or a limit not decided,
92 refused, 97 run invalid, 99 a limit was crossed, 104 bad plan or tape, 105 interrupted

`cuesta VERB --help` says more.
"""


def main(arguments: Sequence[str] | None = None, loaded: Callable[[], object] = lambda: None) -> int:
    """Run the command and return its exit code. `loaded` is called after the verb's import, before the verb starts."""
    open_streams()
    words = join_negative_values(sys.argv[1:] if arguments is None else arguments)
    try:
        if not words or words[0] not in VERBS:
            top_parser().parse_args(words)
            raise UsageError(f"cuesta: expected a verb first, got {words[0]}", "`cuesta --help` shows them all")
        parsed = parse(words[0], words[1:])
        verb = import_module(f"cuesta.cli.{words[0]}")
        loaded()
        return int(verb.carry_out(parsed))
    except CuestaError as error:
        return _explain(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of the output has closed its pipe
        return Exit.FAILED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except OSError as error:
        place = error.filename or "writing the run"
        return _explain(CuestaError(f"{place}: {error.strerror}", "make room or give another folder: --out FOLDER"))
    except Exception as error:
        return _explain(CuestaError(f"{type(error).__name__}: {error}", "CUESTA_DEBUG=1 shows where; please report it"))


def open_streams() -> None:
    """Make the standard streams usable: a closed one (`2>&-`) is the null device, and any character can be printed.

    The null device keeps the closed descriptor's number, so that no file of a run gets it and with it others' messages.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        stream = getattr(sys, name)
        if stream is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def join_negative_values(arguments: Sequence[str]) -> list[str]:
    """Write `--measure -1s` as `--measure=-1s`: else argparse takes the negative value for a flag."""
    result: list[str] = []
    for number, argument in enumerate(arguments):
        if argument == "--":  # the rest is the command that `cuesta record` runs
            return [*result, *arguments[number:]]
        if re.match(r"-[\d.]", argument) and result and result[-1].startswith("--"):
            result[-1] += f"={argument}"
        else:
            result.append(argument)
    return result


def top_parser() -> Parser:
    """The parser for a command line without a verb, such as `cuesta --help`."""
    top = Parser("cuesta", description=ABOUT, epilog=EXAMPLES)
    top.add_argument("--version", action="version", version=f"cuesta {__version__}")
    # The verbs are only listed here: what follows one is left to `top`, which refuses it.
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True, parser_class=argparse.ArgumentParser)
    for name, line in VERBS.items():
        verbs.add_parser(name, help=line)
    return top


def parse(name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse what follows a verb. Raises UsageError."""
    verb = import_module(f"cuesta.cli.verbs.{name}")
    parser = Parser(f"cuesta {name}", description=verb.ABOUT, epilog=verb.EXAMPLES)
    verb.add_arguments(parser)
    return parser.parse_args(getattr(verb, "with_word", list)(arguments))


def _explain(error: CuestaError) -> int:
    if os.environ.get("CUESTA_DEBUG"):
        import traceback  # noqa: PLC0415

        traceback.print_exc()
    named = re.match(r"cuesta( \w+)*: ", str(error))  # some messages begin with the verb
    inform(str(error) if named else f"cuesta: {error}")
    if error.remedy:
        inform(f"  {error.remedy}")
    return error.exit
