"""A first tape for a target, for those who have none: the main job's is for the built-in host alone."""

import shlex
from pathlib import Path

from cuesta.errors import UsageError
from cuesta.line_kinds import row_of, without_settings

ECHO = "Set Echo timed"
SHELL = ("Wait+Prompt", "Forever", "  Think exp 5s", '  Type "date" Enter', "  Wait+Prompt", "End")
AT_A_SHELL = (ECHO, *SHELL)
LOGIN = ("Wait+Line /ogin:/", 'Type "${user}" Enter', "Wait+Line /assword:/", 'Type "${password}" Enter')
AT_A_LOGIN = (ECHO, *LOGIN, *SHELL)
AT_A_3270 = ("Wait+Unlock", 'Type "date" Enter', "Wait+Unlock")
AT_A_STATION = ('Type "a message" Enter', "Wait+Delivered")


def refuse_without_tape(target: str, plan: Path | None = None) -> None:
    """Raise UsageError: no tape says what to type at a target, nor does the plan. The message offers one."""
    what = f"{without_settings(target)}: which tape? Nothing says what users type there"
    quoted, tape = shlex.quote(target), offer_tape(target)
    record = [f"record one:  cuesta record --target {quoted} -o first"] if row_of(target)["recordable"] else []
    begin = f"{'or ' if record else ''}begin with these rows in a file `first.tape`:"
    data = " --data USERS.csv" if any("${" in row for row in tape) else ""
    run = f"cuesta run first.tape --target {quoted}{data}"
    play = f'then, in {plan}:  tape = "first.tape"' if plan else f"then:  {run}"
    raise UsageError(what, "\n  ".join([*record, begin, *(f"    {row}" for row in tape), play]))


def offer_tape(target: str) -> tuple[str, ...]:
    """The rows of a tape that suits the kind of line."""
    kind = row_of(target)
    if kind["terminal"] == "block":
        return AT_A_3270
    if kind["acknowledges"]:
        return AT_A_STATION
    return AT_A_SHELL if kind["starts_program"] or kind["logs_in"] else AT_A_LOGIN
