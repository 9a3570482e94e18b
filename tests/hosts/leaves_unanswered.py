"""A host that does not answer everything, in one of three ways (`HOW` in the environment).

`slowly`: every tenth answer would take a minute. `closes`: it closes the line instead of every third answer, at once.
`mute`: the first of its lines never gets a prompt. All else is answered after 20 ms.
"""

import os

from tests.hosts.behaviour import Behaviour, started

ANSWER = 0.02


def answers(host: Behaviour, row: int) -> bool:
    """Whether it answers a row of its line; it may end the line instead."""
    how = os.environ["HOW"]
    if how == "closes" and row % 3 == 2:
        host.note("closed")
        raise SystemExit
    return not (how == "slowly" and row % 10 == 4)


def is_mute(host: Behaviour) -> bool:
    if os.environ["HOW"] != "mute":
        return False
    try:
        (host.folder / "mute").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def main(host: Behaviour) -> None:
    if is_mute(host):
        for _ in host.reads():
            pass
        return
    for number, _ in enumerate(host.rows(host.echo)):
        host.echo(b"\r\n")
        if answers(host, number):
            host.pause(ANSWER)
            host.write(b"done\r\n$ ", "answer")
        else:
            host.note("unanswered")


if __name__ == "__main__":
    main(started())
