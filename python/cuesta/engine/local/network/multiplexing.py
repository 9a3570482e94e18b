"""An agent of TMux (RFC 1692) at each end of the wire, for a segment of a run. It carries all their TCP.

Each is a process, `tmux_process`, in its side's network and on its side's CPUs. An agent that dies takes its device
along, and traffic goes on as plain IP: the record then lacks its figures, and the run goes on.
"""

import json
import select
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cuesta.engine.local.child_processes import end_child, read_errors
from cuesta.engine.local.network.isolation import WIRE, NetNs, NetNsPair
from cuesta.errors import CuestaError
from cuesta.module_command import module_command
from cuesta.records.rows import TmuxReading

PATIENCE = 30.0
"""Seconds within which an agent must work, answer or end."""
TIMED_OUT = f"no answer within {PATIENCE:.0f} s"
MODULE = "cuesta.engine.local.tmux_process"


@dataclass(slots=True)
class TmuxAgent:
    """An agent's process. It answers each request by a row."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    """Its standard error."""

    def wait_until_it_works(self) -> None:
        """Raises CuestaError with the agent's own words if it ends instead."""
        if self._row() != b"ready\n":
            self.process.kill()
            self.process.wait()
            why = read_errors(self.errors).removeprefix("cuesta: ") or TIMED_OUT
            raise CuestaError(f"tmux: an agent did not start: {why}", "docs/tmux.md tells what it needs")

    def ask(self, request: str) -> TmuxReading | None:
        """Its status, and the CPU time of its process in ns; `reset` also resets its counters. None if it has ended.

        One that does not answer in time is ended: its answer would be read as that to the next request.
        """
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{request}\n".encode())
            self.process.stdin.flush()
            return TmuxReading(cpu=self._cpu(), status=json.loads(self._row()))
        except (OSError, ValueError, IndexError):  # IndexError: a thread that has ended has an empty `schedstat`
            self.process.kill()
            return None

    def _cpu(self) -> int:
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks)

    def _row(self) -> bytes:
        """Its next row; empty if it has ended or does not answer."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        return self.process.stdout.readline() if ready else b""


@dataclass(frozen=True, slots=True)
class TmuxAgents:
    """The agents of both sides."""

    driver: TmuxAgent
    host: TmuxAgent


@contextmanager
def multiplex(hold: int | None, sides: NetNsPair) -> Iterator[TmuxAgents | None]:
    """Run an agent at each end during the block, each the other's peer; none if there is no `hold` (ns)."""
    if hold is None:
        yield None
        return
    with ExitStack() as stack:
        agents = TmuxAgents(
            stack.enter_context(_agent(sides.driver, sides.host, hold)),
            stack.enter_context(_agent(sides.host, sides.driver, hold)),
        )
        for agent in (agents.driver, agents.host):
            agent.wait_until_it_works()
        yield agents


@contextmanager
def _agent(own: NetNs, other: NetNs, hold: int) -> Iterator[TmuxAgent]:
    spec = json.dumps({"peers": [other.address], "delay": hold, "ports": [], "interface": WIRE})
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*own.command_prefix, *module_command(MODULE, spec)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
            start_new_session=True,
        )
        agent = TmuxAgent(process, errors)
        try:
            yield agent
        finally:
            end_child(process, PATIENCE)
