"""A host that begins to answer each row and closes the line in the middle of the answer."""

import os

from tests.hosts.behaviour import started

if __name__ == "__main__":
    host = started()
    host.write(b"$ ", "prompt")
    for key in host.keys():  # noqa: SIM118, not a mapping
        host.write(b"\r\n" if key == b"\r" else key, "echo")
        if key == b"\r":
            host.write(b"the first half of an ans", "answer")
            host.note("closed")
            os.close(0)
            break
