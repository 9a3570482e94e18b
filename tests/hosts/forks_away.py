"""A host whose work is done by processes that detach from it: each row starts one, in one of three ways.

The row is `WAY SECONDS`: the process uses SECONDS of CPU time and logs, as `cpu`, what it used by its own clock.
Ways: `daemon` (forked twice, in its own session), `ignored` (a child that the host does not wait for), `waited` (a
child that it waits for).
"""

import os
import resource
import signal
import time
from collections.abc import Callable

from tests.hosts.behaviour import Behaviour, started


def burn(host: Behaviour, way: str, seconds: float) -> None:
    """Use some seconds of CPU, then log the CPU time of this process."""
    since = time.monotonic_ns()
    while time.process_time() < seconds:
        pass
    usage = resource.getrusage(resource.RUSAGE_SELF)
    host.note("burned", since=since, way=way, cpu=usage.ru_utime + usage.ru_stime)


def child(work: Callable[[], None]) -> int:
    """Do the work in a child process."""
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid


def begin(host: Behaviour, way: str, seconds: float) -> None:
    """Start a process that uses CPU."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN if way == "ignored" else signal.SIG_DFL)

    def leave() -> None:
        os.setsid()
        child(lambda: burn(host, way, seconds))

    pid = child(leave if way == "daemon" else lambda: burn(host, way, seconds))
    if way != "ignored":
        os.waitpid(pid, 0)


if __name__ == "__main__":
    host = started()
    for row in host.rows(host.echo):
        way, _, seconds = row.decode().partition(" ")
        begin(host, way, float(seconds))
        host.write(b"\r\nbegun\r\n$ ", "answer")
    used = resource.getrusage(resource.RUSAGE_SELF)
    host.note("ended", cpu=used.ru_utime + used.ru_stime)
