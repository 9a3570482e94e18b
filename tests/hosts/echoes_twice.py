"""A host that echoes each key at once, and draws the whole row again after its prompt before it runs the row."""

from tests.hosts.behaviour import started
from tests.hosts.commands import ANSWER, PROMPT, answer_to, typed

AGAIN = 0.1
"""Seconds from the Return to the second echo."""

if __name__ == "__main__":
    host = started()
    host.write(PROMPT, "prompt")
    row = b""
    for key in typed(host):
        if key == b"\r":
            host.write(b"\r\n", "echo")
            host.pause(AGAIN)
            host.write(PROMPT, "prompt")
            host.write(row + b"\r\n", "echo again")
            host.pause(ANSWER - AGAIN)
            host.write(answer_to(row), "answer")
            host.write(PROMPT, "prompt")
            row = b""
        else:
            host.write(key, "echo")
            row += key
