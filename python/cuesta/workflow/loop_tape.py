"""`cuesta record --loop`: makes a tape whose users log in once, then repeat their work with random think times.

A recording is one session from login to logout, with the think times of one person. Users who play it log in again and
again, in step with one another. With `--loop` the tape repeats the part after the login for ever and leaves out the
logout; think times and gaps between keys are random with the recorded means.
"""

from collections.abc import Iterator

from cuesta.errors import InputError

LOGOUT = "Wait+Disconnect"
SECRET = "${"
"""Begins a reference to a column of the users' table, such as a password. The tape up to the last one is the login,
which is played once."""


def loop_tape(tape: str) -> str:
    """Make a session's tape repeat its work. Raises InputError if there is no transaction between login and logout."""
    blocks = list(_blocks(tape.splitlines()))
    first = next((at for at, block in enumerate(blocks) if not block[0].startswith(("#", "Set ", "Wait"))), len(blocks))
    logins = [at + 1 for at, block in enumerate(blocks) if any(SECRET in row for row in block)]
    first = max([first, *logins])
    work = [block for block in blocks[first:] if not any(LOGOUT in row for row in block)]
    if not any(block[0].startswith("Transaction") for block in work):
        raise InputError(
            "--loop: nothing was typed and answered between login and logout", "record some work, or leave --loop out"
        )
    once = [row for block in blocks[:first] for row in block]
    rows = [_random(row) for block in work for row in block]
    begin = ["Set KeyLaw human", "Forever", f"  Set Echo {_echo(once)}"]
    return "\n".join([*once, *begin, *(f"  {row}" for row in rows), "End"]) + "\n"


def _blocks(rows: list[str]) -> Iterator[list[str]]:
    """Split a tape into blocks: a transaction up to its `End`, or a single row."""
    block = list[str]()
    for row in rows:
        block.append(row)
        if row == "End" or not block[0].startswith("Transaction"):
            yield block
            block = []


def _echo(rows: list[str]) -> str:
    """The echo mode in force after some rows. Each pass of the loop begins by setting it again."""
    modes = [row.split()[2] for row in rows if row.strip().startswith("Set Echo ")]
    return modes[-1] if modes else "off"


def _random(row: str) -> str:
    return row.replace("Think ", "Think exp ", 1) if row.startswith("Think ") else row
