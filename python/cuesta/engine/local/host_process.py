"""The built-in host's process in a run: `python -m cuesta.engine.local.host_process SPEC`.

It prints its notes on standard error, then its addresses, one on each row, and ends when its standard input does. It
imports little, so that a run starts quickly.
"""

import heapq
import select
import signal
import sys

from cuesta import _native
from cuesta.terminal import inform, show


def main() -> int:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.default_int_handler)  # raises KeyboardInterrupt
    try:
        host = _native.Host.start(sys.argv[1])
    except _native.RunError as error:
        inform(f"cuesta: {error}")
        return 1
    try:
        for note in host.notes:
            inform(note)
        show("\n".join(host.addresses))
        attend(host)
    except KeyboardInterrupt:
        pass
    finally:
        host.stop()
    return 0


def attend(host: _native.Host) -> None:
    """Run the host until standard input ends. Each row of input is an instant at which a row of meters must end."""
    instants: list[int] = []
    while True:
        left = max(instants[0] - _native.now(), 0) / 1e9 if instants else None
        if select.select([sys.stdin], [], [], left)[0]:
            if not (line := sys.stdin.buffer.raw.readline()):  # type: ignore[union-attr]
                return
            heapq.heappush(instants, int(line))
        else:
            host.end_row()
            heapq.heappop(instants)


if __name__ == "__main__":
    sys.exit(main())
