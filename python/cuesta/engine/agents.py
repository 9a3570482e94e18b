"""Starts agents, instructs, follows and stops them, from the engine's process."""

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
from cuesta.errors import CuestaError

LOOK_EVERY = 0.25
"""Seconds between looks at the agents."""
START_IN = 200_000_000
"""Nanoseconds from the start message to the start, so that every agent reads the message in time."""
PATIENCE = 10.0
"""Seconds, beyond its own drain, within which a stopped agent must end."""

Snapshot = Mapping[str, Any]


@dataclass(slots=True)
class Agent:
    """A driver process. A thread reads its output; `latest` is its newest snapshot."""

    number: int
    process: subprocess.Popen[str]
    latest: Snapshot | None = None
    ready: threading.Event = field(default_factory=threading.Event)
    """Set when the agent is ready, and also when it ended without becoming so."""
    ended: str | None = None
    """`completed` or `interrupted`; None if it failed or still runs."""
    failure: str | None = None
    reader: threading.Thread | None = None
    meetings: Meetings | None = None
    """Receives this agent's reports on barriers."""
    write_lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while writing to the process: the reader threads of other agents write to it too."""

    @property
    def has_ended(self) -> bool:
        return self.reader is None or not self.reader.is_alive()

    def tell(self, row: Mapping[str, object]) -> None:
        """Send a row. If the process has ended, nothing is raised here: the reader thread reports it."""
        assert self.process.stdin is not None
        with self.write_lock, suppress(BrokenPipeError):
            if not self.process.stdin.closed:
                self.process.stdin.write(json.dumps(row) + "\n")
                self.process.stdin.flush()

    def stop(self) -> None:
        """Ask the agent to end. It still writes what it measured."""
        assert self.process.stdin is not None
        with self.write_lock, suppress(BrokenPipeError):
            self.process.stdin.close()

    def listen(self) -> None:
        """Read the process's output until it ends."""
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
    """Start the processes, which load side by side. `command_prefix` runs them elsewhere, such as `ip netns exec …`."""
    return [_start(number, command_prefix) for number in range(count)]


def instruct(agents: Sequence[Agent], order: Mapping[str, Any], folder: Path) -> None:
    """Send each agent its order: the `spec`, the `tapes`, and the `environment` of programs on its own lines."""
    meetings = Meetings(lambda row: tell_all(agents, row))
    for agent in agents:
        agent.meetings = meetings
        spec = json.dumps(of_agent(order["spec"], agent.number))
        own = {"spec": spec, "folder": str(folder / f"agent-{agent.number}")}
        agent.tell({**order, **own, "passphrases": passphrases.given()})


def of_agent(spec: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The specification for one agent: `spec` with the agent's number and its share of the CPUs."""
    cpus, threads = spec["cpus"], spec["threads"]
    own = cpus and [cpus[(number * threads + thread) % len(cpus)] for thread in range(threads)]
    return {**spec, "agent": number, "cpus": own}


def tell_all(agents: Sequence[Agent], row: Mapping[str, object]) -> None:
    for agent in agents:
        agent.tell(row)


@contextmanager
def ending(agents: Sequence[Agent]) -> Iterator[None]:
    """Stop all agents at the end of the block, also after an exception."""
    try:
        yield
    finally:
        for agent in agents:
            agent.stop()
        for agent in agents:
            _end(agent)


def start_together(agents: Sequence[Agent]) -> int:
    """Wait until all are ready; start them at one instant, which is returned. Raises CuestaError if one fails."""
    for agent in agents:
        agent.ready.wait()
        if agent.failure:
            raise CuestaError(f"agent {agent.number} cannot start: {agent.failure}")
    start_at = _native.now() + START_IN
    tell_all(agents, {"start_at": start_at, "started_wall": time.time_ns() + START_IN})
    return start_at


def never() -> bool:
    return False


def follow(
    agents: Sequence[Agent],
    look: Callable[[list[Snapshot]], None],
    stopping: threading.Event,
    until: Callable[[], bool] = never,
) -> None:
    """Pass snapshots to `look` until all agents end or `until` is true; stop the agents when `stopping` is set."""
    are_stopped = False
    while not (all(agent.has_ended for agent in agents) or until()):
        for agent in agents:
            assert agent.reader is not None
            agent.reader.join(LOOK_EVERY / len(agents))
        look([agent.latest for agent in agents if agent.latest])
        if stopping.is_set() and not are_stopped:
            are_stopped = True
            for agent in agents:
                agent.stop()


def _start(number: int, command_prefix: Sequence[str]) -> Agent:
    process = subprocess.Popen(
        [*command_prefix, sys.executable, "-m", "cuesta.engine.local.agent_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that Ctrl-C at the terminal reaches only the engine
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
