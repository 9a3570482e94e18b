"""A host at a great distance: it echoes each key late, and answers still later."""

from tests.hosts.behaviour import PROMPT, started
from tests.hosts.commands import Later, answer_to

LAG = 0.3
ANSWER = 1.3

if __name__ == "__main__":
    host = started()
    later = Later(host)
    for row in host.rows(lambda key: later.write(LAG, key, "echo")):
        later.write(LAG, b"\r\n", "echo")
        later.write(ANSWER, answer_to(row), "answer")
        later.write(ANSWER, PROMPT, "prompt")
