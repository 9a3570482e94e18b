"""Network namespaces for tests: nothing that another test started listens there, and every port is free."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET = 0x4000_0000
LIBC = ctypes.CDLL(None, use_errno=True)
CURRENT = Path("/proc/thread-self/ns/net")
"""The namespace of the calling thread."""
FIRST = CURRENT.stat().st_ino
"""The namespace that the tests were started in."""


@contextmanager
def own_network() -> Iterator[None]:
    """Move this thread into a new namespace, which has a loopback device only, until the end of the block. Needs root.

    Processes and threads that it starts are there too. A thread that has left the first namespace stays where it is, so
    the daemons of one test share a namespace.
    """
    if CURRENT.stat().st_ino != FIRST:
        yield
        return
    with returning():
        checked(LIBC.unshare(CLONE_NEWNET))
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        yield


@contextmanager
def inside(namespace: Path) -> Iterator[None]:
    """Move this thread into a namespace, given by its file, until the end of the block."""
    with returning(), namespace.open() as there:
        checked(LIBC.setns(there.fileno(), CLONE_NEWNET))
        yield


@contextmanager
def returning() -> Iterator[None]:
    """At the end of the block move this thread back into the namespace that it is in now."""
    with CURRENT.open() as before:
        try:
            yield
        finally:
            checked(LIBC.setns(before.fileno(), CLONE_NEWNET))


def checked(result: int) -> None:
    assert result == 0, os.strerror(ctypes.get_errno())
