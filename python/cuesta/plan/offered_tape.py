"""A first tape for a target, for those who have none: the main job's is for the built-in host alone."""

import shlex
from pathlib import Path, PurePath

from cuesta.errors import UsageError
from cuesta.line_kinds import row_of, without_settings
from cuesta.shipped_tapes import list_words

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
    data = " --data USERS.csv" if any("${" in row for row in tape) else ""
    run = f"cuesta run first.tape --target {quoted}{data}"
    ways = [f"take one that ships with Cuesta:  --tape {word}" for word in fit_words(target)]
    if row_of(target)["recordable"]:
        ways.append(f"record one:  cuesta record --target {quoted} -o first")
    ways.append("begin with these rows in a file `first.tape`:")
    play = f'then, in {plan}:  tape = "first.tape"' if plan else f"then:  {run}"
    raise UsageError(what, "\n  ".join(["\n  or ".join(ways), *(f"    {row}" for row in tape), play]))


def fit_words(target: str) -> list[str]:
    """The words of tapes that suit a target: its program's and that of any program, or a shell's."""
    row = row_of(target)
    if row["logs_in"]:
        return ["bash"]
    if not (row["starts_program"] and row["can_echo"]):
        return []
    command = [PurePath(word).name for word in target.partition(":")[2].split()]
    return [*(word for word in list_words() if word in command), "typing"]


def offer_tape(target: str) -> tuple[str, ...]:
    """The rows of a tape that suits the kind of line."""
    kind = row_of(target)
    if kind["terminal"] == "block":
        return AT_A_3270
    if kind["acknowledges"]:
        return AT_A_STATION
    return AT_A_SHELL if kind["starts_program"] or kind["logs_in"] else AT_A_LOGIN
