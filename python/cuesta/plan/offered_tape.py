"""A first tape for a target, for those who have none: the main job's is for the built-in host alone."""

import shlex
from pathlib import Path

from cuesta.errors import UsageError
from cuesta.line_kinds import row_of, without_settings
from cuesta.target import kind_of

ECHO = "Set Echo timed"
SHELL = ("Wait+Prompt", "Forever", "  Think exp 5s", '  Type "date" Enter', "  Wait+Prompt", "End")
AT_A_SHELL = (ECHO, *SHELL)
LOGIN = ("Wait+Line /ogin:/", 'Type "${user}" Enter', "Wait+Line /assword:/", 'Type "${password}" Enter')
AT_A_LOGIN = (ECHO, *LOGIN, *SHELL)
TAPES = {
    "telnet": AT_A_LOGIN,
    "tcp": AT_A_LOGIN,
    "serial": AT_A_LOGIN,
    "tn3270": ("Wait+Unlock", 'Type "date" Enter', "Wait+Unlock"),
    "bsc": ('Type "a message" Enter', "Wait+Delivered"),
}
"""By kind of line; of the others each user has a shell."""


def refuse_without_tape(target: str, plan: Path | None = None) -> None:
    """Raise UsageError: no tape says what to type at a target, nor does the plan. The message offers one."""
    what = f"{without_settings(target)}: which tape? Nothing says what users type there"
    quoted, tape = shlex.quote(target), offered(target)
    record = [f"record one:  cuesta record --target {quoted} -o first"] if row_of(target)["recordable"] else []
    begin = f"{'or ' if record else ''}begin with these rows in a file `first.tape`:"
    data = " --data USERS.csv" if any("${" in row for row in tape) else ""
    run = f"cuesta run first.tape --target {quoted}{data}"
    play = f'then, in {plan}:  tape = "first.tape"' if plan else f"then:  {run}"
    raise UsageError(what, "\n  ".join([*record, begin, *(f"    {row}" for row in tape), play]))


def offered(target: str) -> tuple[str, ...]:
    """The rows of a tape that suits the kind of line."""
    return TAPES.get(kind_of(target), AT_A_SHELL)
