"""A metering process: `cuesta meters 1 --json --attached …`, on this machine or, over ssh, on the host's own.

stdin   a row `mark` asks for a sheet since the mark before, `profile` for where CPU time went since the start; the end
        means stop
stdout  JSON lines: a sheet each second, {"mark": true, …sheet…} for each mark, {"profile": {listing, folded, flame}}
"""

import json
import os
import select
from typing import Any, Protocol, TextIO

from cuesta import _native

COVERED = 0.9
"""The part of the busy samples that a profile's locations cover."""


class Meters(Protocol):
    """What can be read: this machine, or another by its node_exporter."""

    def snapshot(self) -> str:
        """Give the counters as they are now, as JSON."""

    def report(self, since: str | None = None) -> str:
        """Give what came since a reading, or else since the last such report, as JSON."""


class Stream:
    """Writes sheets until its orders end."""

    def __init__(self, meters: Meters, orders: int, out: TextIO) -> None:
        self.meters = meters
        self.orders = orders
        self.out = out
        self.marked = meters.snapshot()
        self.said = b""
        """Of an order that has not come whole."""

    def run(self, every: float) -> None:
        """Write a sheet each so many seconds. A reading that is late makes the next ones no later."""
        due = _native.now() / 1e9
        while True:
            due = max(due + every, _native.now() / 1e9 - every)
            while (left := due - _native.now() / 1e9) > 0:
                if not select.select([self.orders], [], [], left)[0]:
                    break
                if not self.obey():
                    return
            print(self.meters.report(), file=self.out, flush=True)

    def obey(self) -> bool:
        """Do what is asked for; say whether more may come."""
        came = os.read(self.orders, 4096)
        *orders, self.said = (self.said + came).split(b"\n")
        for order in orders:
            if order == b"mark":
                self.say({"mark": True, **json.loads(self.meters.report(self.marked))})
                self.marked = self.meters.snapshot()
            elif order == b"profile":
                self.profile()
        return bool(came)

    def profile(self) -> None:
        """Say where CPU time went, if stacks were kept."""
        if isinstance(self.meters, _native.Meters):
            try:
                self.say({"profile": json.loads(self.meters.profile(COVERED, "CPU time of the host"))})
            except _native.RunError:
                return  # not sampled: the sheets say why

    def say(self, row: dict[str, Any]) -> None:
        """Write a row."""
        print(json.dumps(row), file=self.out, flush=True)
