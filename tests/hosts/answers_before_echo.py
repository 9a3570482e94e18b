"""A host that answers a command before it echoes it."""

from tests.hosts.behaviour import PROMPT, started
from tests.hosts.commands import ANSWER, answer_to

ECHO = 0.2
"""Seconds from the answer to the echo."""

if __name__ == "__main__":
    host = started()
    for row in host.rows(lambda _: None):
        host.pause(ANSWER)
        host.write(b"\r\n" + answer_to(row), "answer")
        host.pause(ECHO)
        for key in row:
            host.echo(bytes([key]))
        host.echo(b"\r\n")
        host.write(PROMPT, "prompt")
