"""An agent of TMux in its own process, for its network namespace: `python -m cuesta.engine.local.tmux_process SPEC`.

It prints the row `ready` when it works. Each row `status` or `reset` on its standard input is answered by a row of JSON
(`reset`: the status before the counters began anew). It ends when its standard input does. It imports little, so that a
run starts quickly.
"""

import signal
import sys

from cuesta import _native
from cuesta.terminal import inform, show


def main() -> int:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.default_int_handler)  # raises KeyboardInterrupt
    try:
        agent = _native.Tmux.start(sys.argv[1])
        try:
            show("ready")
            answer(agent)
        except KeyboardInterrupt:
            pass
        finally:
            agent.stop()
    except (_native.RunError, ValueError) as error:
        inform(f"cuesta: {error}")
        return 1
    return 0


def answer(agent: _native.Tmux) -> None:
    """Answer requests until standard input ends."""
    requests = {"status": agent.status, "reset": agent.reset}
    for row in sys.stdin:
        show(requests[row.strip()]())


if __name__ == "__main__":
    sys.exit(main())
