"""A host that answers, but echoes no key."""

from tests.hosts.behaviour import PROMPT, started
from tests.hosts.commands import ANSWER, answer_to

if __name__ == "__main__":
    host = started()
    for row in host.rows(lambda _: None):
        host.pause(ANSWER)
        host.write(b"\r\n" + answer_to(row), "answer")
        host.write(PROMPT, "prompt")
