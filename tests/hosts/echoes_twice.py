"""A host that echoes each key at once, and draws the whole row again after its prompt before it runs the row."""

from tests.hosts.behaviour import PROMPT, started
from tests.hosts.commands import ANSWER, answer_to

AGAIN = 0.1
"""Seconds from the Return to the second echo."""

if __name__ == "__main__":
    host = started()
    for row in host.rows(host.echo):
        host.echo(b"\r\n")
        host.pause(AGAIN)
        host.write(PROMPT, "prompt")
        host.write(row + b"\r\n", "echo again")
        host.pause(ANSWER - AGAIN)
        host.write(answer_to(row), "answer")
        host.write(PROMPT, "prompt")
