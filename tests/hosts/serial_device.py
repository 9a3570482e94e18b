"""A host that sends as a serial device does: its answer to a row leaves character after character, at a line speed."""

import time

from tests.hosts.behaviour import Behaviour, started

BAUD = 9600
ANSWER = b"x" * 480
"""It takes 0.5 s, ten bits a character, beside which the lateness of a busy machine is short."""


def send(host: Behaviour) -> None:
    """Send the answer; each character is due one character's time behind the one before it.

    A busy machine wakes it up late: then it sends all that is due.
    """
    begin, sent = time.monotonic(), 0
    while sent < len(ANSWER):
        host.pause(max(begin + (sent + 1) * 10 / BAUD - time.monotonic(), 0.0))
        due = max(int((time.monotonic() - begin) * BAUD / 10), sent + 1)
        host.write(ANSWER[sent:due])
        sent = due


if __name__ == "__main__":
    host = started()
    for key in host.typed():
        if key == b"\r":
            send(host)
