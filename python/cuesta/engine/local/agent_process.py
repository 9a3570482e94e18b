"""One driver process: `python -m cuesta.engine.local.agent_process`. It knows no plan, only a spec, tapes and a folder.

Standard input has rows of JSON, an `EngineMessage` each, standard output an `AgentMessage` each
(`cuesta.records.messages`); the end of the input means stop. All instants are on its own clock.
"""

import json
import os
import select
import sys
import time
from contextlib import suppress
from typing import Any

from cuesta import _native
from cuesta.terminal import show

LOOK_EVERY = 0.25
"""Seconds between looks at the state."""
END_EVERY = 0.05
"""Seconds between checks whether the run has ended."""
MEET_EVERY = 0.02
"""Seconds between checks of barriers shared with other agents: short beside the time that users wait there."""


class Orders:
    """Reads the engine's rows from standard input. Its own buffer, because `select` does not see buffered input."""

    def __init__(self) -> None:
        self._file = sys.stdin.fileno()
        self._read = b""
        self.ended = False

    def wait(self) -> dict[str, Any] | None:
        """The next order, one row at a time; None at the end of the input. Requests for the clock are answered."""
        while True:
            while b"\n" not in self._read and not self.ended:
                self._take(None)
            row, _, self._read = self._read.partition(b"\n")
            order = json.loads(row) if row else None
            if not (order and _answer_clock(order)):
                return order

    def within(self, timeout: float) -> list[dict[str, Any]]:
        """The complete orders that are there, after waiting at most `timeout` seconds for input."""
        self._take(timeout)
        *rows, self._read = self._read.split(b"\n")
        return [json.loads(row) for row in rows]

    def _take(self, timeout: float | None) -> None:
        if select.select([self._file], [], [], timeout)[0]:
            piece = os.read(self._file, 1 << 16)
            self.ended = not piece
            self._read += piece


def main() -> None:
    """Play this agent's share of the users through a segment."""
    orders = Orders()
    if not (message := orders.wait()):
        return  # the run could not start
    order = message["order"]
    os.environ.update(order["environment"])  # for the programs that it starts; too late for its own linker
    try:
        for file, passphrase in order["passphrases"].items():
            _native.ssh_unlock(file, passphrase)
        spec = _native.RunSpec.parse(json.dumps(order["spec"]))
        spec.prepare_ssh()
        tapes = {name: _native.Tape.assemble(**tape) for name, tape in order["tapes"].items()}
        _say({"ready": {"clock": _native.clock_name()}})
        if message := orders.wait():
            _play(_native.Run.start(spec, **message["start"], tapes=tapes, folder=order["folder"]), orders)
    except (_native.RunError, _native.TapeError) as error:
        _say({"failed": str(error)})


def _play(run: _native.Run, orders: Orders) -> None:
    wake_every = MEET_EVERY if run.shares_barriers() else END_EVERY
    look_at = 0.0
    watches = False
    said = ""
    while not run.wait(LOOK_EVERY if orders.ended else 0):
        if time.monotonic() >= look_at:
            said = _say_state(run, said)
            if orders.ended and (left := run.count_removals()):
                _say({"removing": left})
            if watches:
                _say({"screens": json.loads(run.screens())})
            look_at = time.monotonic() + LOOK_EVERY
        for standing in json.loads(run.changed_barriers()):
            _say({"standing": standing})
        if not orders.ended:
            for order in orders.within(wake_every):
                _obey(run, order)
                watches |= "watch" in order
            if orders.ended:
                run.stop()
    _say_state(run, said)
    _say({"ended": "interrupted" if orders.ended else "completed"})


def _answer_clock(order: dict[str, Any]) -> bool:
    """Answer a request for the clock; whether the order is one."""
    if "read_clock" in order:
        _say({"clock": {"asked": order["read_clock"], "at": _native.now()}})
    return "read_clock" in order


def _obey(run: _native.Run, order: dict[str, Any]) -> None:
    if _answer_clock(order):
        return
    match order:
        case {"release": release}:
            run.release(json.dumps(release))
        case {"announce": announcement}:
            run.announce(json.dumps(announcement))
        case {"watch": watched}:
            run.watch(json.dumps(watched))
        case {"hold_starts": bool(hold)}:
            run.hold_starts(hold)


def _say_state(run: _native.Run, said: str) -> str:
    """Say the state, which changes once an interval, unless that was `said` last; returns it.

    An empty row says that the agent is alive.
    """
    state = run.snapshot()
    _say({} if state == said else {"snapshot": json.loads(state)})
    return state


def _say(row: dict[str, Any]) -> None:
    with suppress(BrokenPipeError):  # the engine has gone; the end of standard input stops the run
        show(json.dumps(row))


if __name__ == "__main__":
    main()
