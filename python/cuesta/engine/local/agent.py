"""An agent as a process of this machine, `agent_process`. Its clock and its folder are the engine's own."""

import json
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cuesta.engine.ports import Row
from cuesta.module_command import module_command

COMMAND = module_command("cuesta.engine.local.agent_process")


@dataclass(slots=True)
class ProcessAgent:
    """A driver process. It is told rows by several threads, and listened to by one."""

    number: int
    process: subprocess.Popen[str]
    records: str
    node: str | None = None
    write_lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, row: Row) -> None:
        assert self.process.stdin is not None
        with self.write_lock, suppress(BrokenPipeError):
            if not self.process.stdin.closed:
                self.process.stdin.write(json.dumps(row) + "\n")
                self.process.stdin.flush()

    def listen(self) -> Iterator[Row]:
        assert self.process.stdout is not None
        with self.process.stdout as rows:
            yield from map(json.loads, rows)

    def how_it_ended(self) -> str:
        code = self.process.wait()
        return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"

    def stop(self) -> None:
        assert self.process.stdin is not None
        with self.write_lock, suppress(BrokenPipeError):
            self.process.stdin.close()

    def kill(self) -> None:
        self.process.kill()

    def fetch(self, folder: Path) -> None:
        """Nothing is left to do: the process records there."""


@contextmanager
def start_agents(
    numbers: Iterable[int], folder: Path, here: Path, command_prefix: Sequence[str] = ()
) -> Iterator[list[ProcessAgent]]:
    """Start agents, which load side by side and record in `folder`; none is left after the block.

    The programs on their lines start in `here`. `command_prefix` runs them elsewhere, such as `ip netns exec …`.
    """
    started: list[ProcessAgent] = []
    try:
        for number in numbers:
            process = subprocess.Popen(
                [*command_prefix, *COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=here,
                start_new_session=True,  # so that Ctrl-C at the terminal reaches only the engine
            )
            started.append(ProcessAgent(number, process, str(folder.absolute() / f"agent-{number}")))
        yield started
    finally:
        for agent in started:
            if agent.process.poll() is None:  # an error came before anybody followed it
                agent.kill()
                agent.process.wait()
