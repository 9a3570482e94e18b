"""A host that answers, but echoes no key."""

from tests.hosts.behaviour import started
from tests.hosts.commands import ANSWER, PROMPT, answer_to, typed

if __name__ == "__main__":
    host = started()
    host.write(PROMPT, "prompt")
    row = b""
    for key in typed(host):
        if key == b"\r":
            host.pause(ANSWER)
            host.write(b"\r\n" + answer_to(row), "answer")
            host.write(PROMPT, "prompt")
            row = b""
        else:
            row += key
