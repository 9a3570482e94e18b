"""A host that answers each row until it reads `freeze`; then it takes every key and never writes anything again."""

from tests.hosts.behaviour import started

if __name__ == "__main__":
    host = started()
    host.write(b"$ ", "prompt")
    row, frozen = b"", False
    for key in host.keys():  # noqa: SIM118, not a mapping
        if key != b"\r":
            row += key
        elif not frozen:
            frozen = row.strip() == b"freeze"
            if frozen:
                host.note("frozen")
            else:
                host.write(b"\r\nthere is no " + row + b"\r\n$ ", "answer")
            row = b""
