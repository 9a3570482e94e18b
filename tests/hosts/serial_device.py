"""A host that sends as a serial device does: its answer to a row leaves character after character, at a line speed."""

import time

from tests.hosts.behaviour import Behaviour, started

BAUD = 9600
ANSWER = b"x" * 96
"""It takes 0.1 s: ten bits a character."""


def send(host: Behaviour) -> None:
    """Send the answer; each character is due one character's time behind the one before it."""
    begin = time.monotonic()
    for number in range(len(ANSWER)):
        host.pause(max(begin + (number + 1) * 10 / BAUD - time.monotonic(), 0.0))
        host.write(ANSWER[number : number + 1])


if __name__ == "__main__":
    host = started()
    for key in host.keys():  # noqa: SIM118, not a mapping
        if key == b"\r":
            send(host)
