"""A host that shows each key in a corner of the screen first, and echoes it at the cursor later.

Nothing else is in that row: an old answer there would be new once the row changes (docs/tape.md).
"""

from tests.hosts.behaviour import PROMPT, started
from tests.hosts.commands import ANSWER, Later, answer_to

ECHO = 0.05
"""Seconds from the decoy to the echo."""

if __name__ == "__main__":
    host = started()
    later = Later(host)

    def paint(key: bytes) -> None:
        host.write(b"\x1b7\x1b[24;70H" + key + b"\x1b8", "decoy")
        later.write(ECHO, key, "echo")

    for row in host.rows(paint, b"\x1b[H\x1b[2J" + PROMPT):
        host.echo(b"\r\n")
        later.write(ANSWER, answer_to(row), "answer")
        later.write(ANSWER, PROMPT, "prompt")
