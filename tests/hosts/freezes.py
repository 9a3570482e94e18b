"""A host that takes every key and never writes anything."""

from tests.hosts.behaviour import started

if __name__ == "__main__":
    host = started()
    host.write(b"$ ", "prompt")
    for _ in host.reads():
        pass
    host.note("ended")
