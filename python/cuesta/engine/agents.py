"""Agents seen from the engine: processes that are told what to do, say how it goes, and stop when told."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuesta import _native
from cuesta.engine import passphrases
from cuesta.engine.meetings import Meetings
from cuesta.engine.spec import of_agent
from cuesta.errors import CuestaError

LOOK_EVERY = 0.25
"""Seconds between looks."""
START_IN = 200_000_000
"""Nanoseconds from the word to start until the start: every agent has read it by then."""
PATIENCE = 10.0
"""Seconds beyond its own drain that a stopped agent has to end."""

Snapshot = Mapping[str, Any]


@dataclass(slots=True)
class Agent:
    """A driving process. A thread reads what it says; `latest` is its newest snapshot."""

    number: int
    process: subprocess.Popen[str]
    latest: Snapshot | None = None
    ready: threading.Event = field(default_factory=threading.Event)
    """Set when it is ready, or will never be."""
    ended: str | None = None
    """`completed` or `interrupted`; None if it did not come to an end."""
    failure: str | None = None
    reader: threading.Thread | None = None
    meetings: Meetings | None = None
    """Who hears of arrivals at barriers."""
    telling: threading.Lock = field(default_factory=threading.Lock)
    """Held while something is written to it: the readers of other agents do so too."""

    def tell(self, row: Mapping[str, object]) -> None:
        """Send a row; an agent that is gone is found out by its reader."""
        assert self.process.stdin is not None
        with self.telling, suppress(BrokenPipeError):
            if not self.process.stdin.closed:
                self.process.stdin.write(json.dumps(row) + "\n")
                self.process.stdin.flush()

    def stop(self) -> None:
        """Ask it to end; what it measured is kept."""
        assert self.process.stdin is not None
        with self.telling, suppress(BrokenPipeError):
            self.process.stdin.close()

    def listen(self) -> None:
        """Read until it says no more."""
        assert self.process.stdout is not None
        for row in self.process.stdout:
            match json.loads(row):
                case {"ready": _}:
                    self.ready.set()
                case {"ended": how}:
                    self.ended = how
                case {"failed": why}:
                    self.failure = why
                case {"standing": standing}:
                    assert self.meetings is not None
                    self.meetings.hear(self.number, standing)
                case snapshot:
                    self.latest = snapshot
        self.ready.set()
        code = self.process.wait()
        if self.ended is None and self.failure is None:
            self.failure = f"its process ended with {code}" if code >= 0 else f"it was killed by signal {-code}"


def start_agents(count: int, command_prefix: Sequence[str] = ()) -> list[Agent]:
    """Start the processes, which load while others do; `command_prefix` are words that have a command run elsewhere."""
    return [_start(number, command_prefix) for number in range(count)]


def instruct(agents: Sequence[Agent], order: Mapping[str, Any], folder: Path) -> None:
    """Tell agents what to do: the order has the `spec`, the `tapes` and the `environment` of programs on lines."""
    meetings = Meetings(lambda row: tell_all(agents, row))
    for agent in agents:
        agent.meetings = meetings
        spec = json.dumps(of_agent(order["spec"], agent.number))
        own = {"spec": spec, "folder": str(folder / f"agent-{agent.number}")}
        agent.tell({**order, **own, "passphrases": passphrases.given()})


def tell_all(agents: Sequence[Agent], row: Mapping[str, object]) -> None:
    """Send a row to each."""
    for agent in agents:
        agent.tell(row)


@contextmanager
def ending(agents: Sequence[Agent]) -> Iterator[None]:
    """Whatever happens, no agent outlives the block."""
    try:
        yield
    finally:
        for agent in agents:
            agent.stop()
        for agent in agents:
            _end(agent)


def start_together(agents: Sequence[Agent]) -> int:
    """Wait until all are ready and give them one start, which is returned. Raises CuestaError if one cannot."""
    for agent in agents:
        agent.ready.wait()
        if agent.failure:
            raise CuestaError(f"agent {agent.number} cannot start: {agent.failure}")
    start_at = _native.now() + START_IN
    tell_all(agents, {"start_at": start_at, "started_wall": time.time_ns() + START_IN})
    return start_at


def follow(agents: Sequence[Agent], look: Callable[[list[Snapshot]], None], stopping: threading.Event) -> None:
    """Look on until all have ended; stop them when told to."""
    told = False
    while any(agent.reader and agent.reader.is_alive() for agent in agents):
        for agent in agents:
            assert agent.reader is not None
            agent.reader.join(LOOK_EVERY / len(agents))
        look([agent.latest for agent in agents if agent.latest])
        if stopping.is_set() and not told:
            told = True
            for agent in agents:
                agent.stop()


def _start(number: int, command_prefix: Sequence[str]) -> Agent:
    process = subprocess.Popen(
        [*command_prefix, sys.executable, "-m", "cuesta.engine.agent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a Ctrl-C at the terminal is the engine's to deal with
    )
    agent = Agent(number, process)
    agent.reader = threading.Thread(target=agent.listen, daemon=True)
    agent.reader.start()
    return agent


def _end(agent: Agent) -> None:
    try:
        agent.process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        agent.process.kill()
    assert agent.reader is not None
    assert agent.process.stdout is not None
    agent.reader.join()
    agent.process.stdout.close()
