"""A host that draws: before it shows a key, it sends control functions that contain letters."""

from tests.hosts.behaviour import PROMPT, started
from tests.hosts.commands import ANSWER, Later, answer_to

SHOWN = 0.05
"""Seconds from the control functions to the key itself."""

if __name__ == "__main__":
    host = started()
    later = Later(host)

    def draw(key: bytes) -> None:
        host.write(b"\x1b[?25l\x1b[1;32m\x1b]0;" + key + b"\x07\x1b(B\x1b[K", "drew")
        later.write(SHOWN, key + b"\x1b[m\x1b[?25h", "echo")

    for row in host.rows(draw):
        host.echo(b"\r\n")
        later.write(ANSWER, answer_to(row), "answer")
        later.write(ANSWER, PROMPT, "prompt")
