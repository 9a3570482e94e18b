"""A host that answers each row until it reads `freeze`; then it takes every key and never writes anything again."""

from tests.hosts.behaviour import started

if __name__ == "__main__":
    host = started()
    frozen = False
    for row in host.rows(lambda _: None):
        if frozen:
            continue
        frozen = row.strip() == b"freeze"
        if frozen:
            host.note("frozen")
        else:
            host.write(b"\r\nthere is no " + row + b"\r\n$ ", "answer")
