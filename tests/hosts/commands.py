"""The common part of hosts that take commands: an answer to `echo X`, delayed output, and work for each row.

The log of such a host has the words "prompt", "echo" and "answer", each with the instant just before its write as
`since`; a row "read" has the instant at which keys arrived.
"""

import heapq
import itertools
import threading
import time
from collections.abc import Callable

from tests.hosts.behaviour import Behaviour

ANSWER = 0.6
"""Seconds from a Return to the answer, unless a host sets another delay."""


def answer_to(row: bytes) -> bytes:
    """The output of a command, with its end of row."""
    word, _, rest = row.strip().partition(b" ")
    if not word:
        return b""
    return (rest if word == b"echo" else word + b": not found") + b"\r\n"


def work_for_each_row(host: Behaviour, work: Callable[[], None]) -> None:
    """Echo keys, and answer each row after the work."""
    for _ in host.rows(host.echo):
        work()
        host.write(b"\r\ndone\r\n$ ", "answer")


class Later:
    """Writes delayed output while the host goes on reading."""

    def __init__(self, host: Behaviour) -> None:
        self._host = host
        self._number = itertools.count()
        self._due: list[tuple[float, int, bytes, str]] = []
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def write(self, seconds: float, data: bytes, did: str) -> None:
        """Write after some seconds; output that is due at the same time keeps its order."""
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._number), data, did))
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._due or self._due[0][0] > time.monotonic():
                    self._changed.wait(self._due[0][0] - time.monotonic() if self._due else None)
                _, _, data, did = heapq.heappop(self._due)
            self._host.write(data, did)
