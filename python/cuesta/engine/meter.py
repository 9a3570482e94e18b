"""A metering process: `cuesta meters 1 --json --attached …`, on this machine or, over ssh, on the host's own.

stdin   a row `mark` asks for a sheet since the mark before; its end means stop
stdout  JSON lines: a sheet each second, and {"mark": true, …sheet…} for each mark
"""

import json
import os
import select
from typing import Protocol, TextIO

from cuesta import _native


class Meters(Protocol):
    """What can be read."""

    def reading(self) -> str:
        """Give the counters as they are now."""

    def sheet(self, since: str | None = None) -> str:
        """Give what came since a reading, or else since the last such sheet."""


def stream(meters: Meters, every: float, orders: int, out: TextIO) -> None:
    """Write sheets until the orders end. A reading that is late makes the next ones no later."""
    marked, due = meters.reading(), _native.now() / 1e9
    while True:
        due = max(due + every, _native.now() / 1e9 - every)
        while (left := due - _native.now() / 1e9) > 0:
            if not select.select([orders], [], [], left)[0]:
                break
            said = os.read(orders, 4096)
            if not said:
                return
            for _ in range(said.count(b"\n")):
                marked = _mark(meters, marked, out)
        print(meters.sheet(), file=out, flush=True)


def _mark(meters: Meters, since: str, out: TextIO) -> str:
    """Write the sheet since the mark before; gives the reading at this one."""
    sheet = json.loads(meters.sheet(since))
    print(json.dumps({"mark": True, **sheet}), file=out, flush=True)
    return meters.reading()
