"""The command line: which verb, and what becomes of errors."""

import argparse
import difflib
import os
import re
import sys
import traceback
from collections.abc import Sequence

from cuesta import __version__
from cuesta.cli import certify, check, compare, host, ledger, meters, record, report, run
from cuesta.errors import CuestaError, Exit, UsageError

VERBS = (run, certify, compare, ledger, report, host, meters, record, check)

ABOUT = """How many people can use this system at once, and how will it feel to type on it?

cuesta emulates terminal users, times every key and every answer, and says whether its numbers can be trusted.
"""

EXAMPLES = """examples:
  cuesta run                                  the main job: 96 users type at the built-in host
  cuesta run login.tape --target telnet://10.0.0.7:23 --users 20
  cuesta compare base/ new/                   is it faster or slower, as far as runs can tell
  cuesta record -- bash                       make a tape of what you type
  cuesta check login.tape                     is the tape understood, and how
  cuesta host --listen telnet://127.0.0.1:2300

exit codes: 0 good, 1 failed, 2 usage, 90 changed, 91 inconclusive, 92 refused, 97 run invalid,
99 a limit was crossed, 104 bad plan or tape, 105 interrupted
`cuesta VERB --help` says more.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; give its exit code."""
    parsed, unknown = parser().parse_known_args(joined(sys.argv[1:] if arguments is None else arguments))
    try:
        if unknown:
            raise _unknown(unknown[0], parsed.parser)
        return int(parsed.carry_out(parsed))
    except CuestaError as error:
        return _explain(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read our output has left
        return Exit.FAILED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except OSError as error:
        place = error.filename or "writing the run"
        return _explain(CuestaError(f"{place}: {error.strerror}", "make room or give another folder: --out FOLDER"))
    except Exception as error:
        return _explain(CuestaError(f"{type(error).__name__}: {error}", "CUESTA_DEBUG=1 shows where; please report it"))


def joined(arguments: Sequence[str]) -> list[str]:
    """Write `--measure -1s` as `--measure=-1s`: a negative value is a value, and is then refused as one."""
    result: list[str] = []
    for number, argument in enumerate(arguments):
        if argument == "--":  # what follows is somebody else's command
            return [*result, *arguments[number:]]
        if re.match(r"-[\d.]", argument) and result and result[-1].startswith("--"):
            result[-1] += f"={argument}"
        else:
            result.append(argument)
    return result


def parser() -> argparse.ArgumentParser:
    """Make the parser of all verbs."""
    top = argparse.ArgumentParser("cuesta", description=ABOUT, epilog=EXAMPLES, formatter_class=Raw, allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"cuesta {__version__}")
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in VERBS:
        one = verbs.add_parser(
            verb.NAME,
            help=verb.HELP,
            description=verb.ABOUT,
            epilog=verb.EXAMPLES,
            formatter_class=Raw,
            allow_abbrev=False,
        )
        verb.add_arguments(one)
        one.set_defaults(carry_out=verb.carry_out, parser=one)
    return top


def _unknown(argument: str, verb: argparse.ArgumentParser) -> UsageError:
    """Say that a verb has no place for an argument, and which flag may be meant."""
    remedy = f"`{verb.prog} --help` shows them all"
    if not argument.startswith("-"):
        return UsageError(f"{verb.prog}: one argument too many: {argument}", remedy)
    flag, flags = argument.partition("=")[0], re.findall(r"--([\w-]+)", verb.format_usage())
    meant = difflib.get_close_matches(flag.lstrip("-"), flags, n=1)
    return UsageError(f"{verb.prog}: no such flag: {flag}" + (f"; did you mean --{meant[0]}?" if meant else ""), remedy)


class Raw(argparse.RawDescriptionHelpFormatter):
    """Keeps the examples as they are written."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=110)


def _explain(error: CuestaError) -> int:
    """Say one message and its remedy."""
    if os.environ.get("CUESTA_DEBUG"):
        traceback.print_exc()
    print(f"cuesta: {error}", file=sys.stderr)
    if error.remedy:
        print(f"  {error.remedy}", file=sys.stderr)
    return error.exit
