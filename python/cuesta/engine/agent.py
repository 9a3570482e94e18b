"""One driving process: `python -m cuesta.engine.agent`. It knows no plan, only a spec, tapes and a folder.

stdin   one row of JSON {spec, tapes, folder}; then, when all agents are ready, one row {start_at, started_wall};
        its end means stop
stdout  {"ready": true}, then snapshots, then {"ended": "completed"} or {"failed": "why"}
"""

import json
import select
import sys
from contextlib import suppress
from typing import Any

from cuesta import _native

LOOK_EVERY = 0.25
"""Seconds between snapshots."""


def main() -> None:
    """Play one agent's part of a segment."""
    order = json.loads(sys.stdin.readline())
    try:
        scripts = {name: _native.Script.parse(**tape) for name, tape in order["tapes"].items()}
        _say({"ready": True})
        start = sys.stdin.readline()
        if start:
            _play(json.dumps({**order["spec"], **json.loads(start)}), scripts, order["folder"])
    except (_native.RunError, _native.TapeError) as error:
        _say({"failed": str(error)})


def _play(spec: str, scripts: dict[str, _native.Script], folder: str) -> None:
    run = _native.Run.start(spec, scripts, folder)
    stopped = False
    while not run.wait(LOOK_EVERY if stopped else 0):
        _say(json.loads(run.snapshot()))
        if not stopped and _input_ended():
            run.stop()
            stopped = True
    _say(json.loads(run.snapshot()))
    _say({"ended": "interrupted" if stopped else "completed"})


def _input_ended() -> bool:
    ready, _, _ = select.select([sys.stdin], [], [], LOOK_EVERY)
    return bool(ready) and not sys.stdin.read(1)


def _say(row: dict[str, Any]) -> None:
    with suppress(BrokenPipeError):  # nobody looks on any more; the end of the input stops the run
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
