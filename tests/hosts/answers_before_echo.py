"""A host that answers a command before it echoes it."""

from tests.hosts.behaviour import started
from tests.hosts.commands import ANSWER, PROMPT, answer_to, typed

ECHO = 0.2
"""Seconds from the answer to the echo."""

if __name__ == "__main__":
    host = started()
    host.write(PROMPT, "prompt")
    row = b""
    for key in typed(host):
        if key == b"\r":
            host.pause(ANSWER)
            host.write(b"\r\n" + answer_to(row), "answer")
            host.pause(ECHO)
            for shown in row:
                host.write(bytes([shown]), "echo")
            host.write(b"\r\n", "echo")
            host.write(PROMPT, "prompt")
            row = b""
        else:
            row += key
