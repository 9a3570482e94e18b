"""`cuesta record --loop`: a recorded tape whose users stay, work on and on, and think as people do.

A recording is one session from login to logout, with the think times that one person happened to have. Users who play
it log in again and again, in step with one another. With `--loop` what comes after the login is repeated for ever, the
logout is left out, and think times and gaps between keys are random with the same means.
"""

from collections.abc import Iterator

from cuesta.errors import InputError

LOGOUT = "Wait+Disconnect"
SECRET = "${"
"""Before a column of users, such as a password: what stands up to there is the login, which is done once."""


def looped(tape: str) -> str:
    """Make the tape of a session into one that goes on. Raises InputError if nothing can be repeated."""
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
    """The commands of a tape: a transaction with all that is in it, or one row."""
    block = list[str]()
    for row in rows:
        block.append(row)
        if row == "End" or not block[0].startswith("Transaction"):
            yield block
            block = []


def _echo(rows: list[str]) -> str:
    """How keys are timed behind some rows: in a loop each pass begins with that."""
    modes = [row.split()[2] for row in rows if row.strip().startswith("Set Echo ")]
    return modes[-1] if modes else "off"


def _random(row: str) -> str:
    return row.replace("Think ", "Think exp ", 1) if row.startswith("Think ") else row
