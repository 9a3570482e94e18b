"""A host at a great distance: it echoes each key late, and answers still later."""

from tests.hosts.behaviour import started
from tests.hosts.commands import PROMPT, Later, answer_to, typed

LAG = 0.3
ANSWER = 1.3

if __name__ == "__main__":
    host = started()
    later = Later(host)
    host.write(PROMPT, "prompt")
    row = b""
    for key in typed(host):
        if key == b"\r":
            later.write(LAG, b"\r\n", "echo")
            later.write(ANSWER, answer_to(row), "answer")
            later.write(ANSWER, PROMPT, "prompt")
            row = b""
        else:
            later.write(LAG, key, "echo")
            row += key
