"""A host that shows each key in a corner of the screen first, and echoes it at the cursor later.

Nothing else is in that row: an old answer there would be new once the row changes (docs/tape.md).
"""

from tests.hosts.behaviour import started
from tests.hosts.commands import ANSWER, PROMPT, Later, answer_to, typed

ECHO = 0.05
"""Seconds from the decoy to the echo."""

if __name__ == "__main__":
    host = started()
    later = Later(host)
    host.write(b"\x1b[H\x1b[2J" + PROMPT, "prompt")
    row = b""
    for key in typed(host):
        if key == b"\r":
            host.write(b"\r\n", "echo")
            later.write(ANSWER, answer_to(row), "answer")
            later.write(ANSWER, PROMPT, "prompt")
            row = b""
        else:
            host.write(b"\x1b7\x1b[24;70H" + key + b"\x1b8", "decoy")
            later.write(ECHO, key, "echo")
            row += key
