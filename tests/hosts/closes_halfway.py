"""A host that begins to answer each row and closes the line in the middle of the answer."""

import os

from tests.hosts.behaviour import started

if __name__ == "__main__":
    host = started()
    for _ in host.rows(host.echo):
        host.echo(b"\r\n")
        host.write(b"the first half of an ans", "answer")
        host.note("closed")
        os.close(0)
        break
