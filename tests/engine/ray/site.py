"""A site of machines: a Ray head, where the engine is, nodes with users, and a host; each with its own clock."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from tests.engine.paced_rows import PLAN, TAPE
from tests.machines import NETWORK, Machine, environment, machines, ray_cluster

CUESTA = str(Path(sys.executable).with_name("cuesta"))
AHEAD = (0, 5_000, 90_000, 300)
"""Seconds by which the clocks of the head and of the nodes are ahead."""
PORT = 2323


@dataclass(frozen=True)
class Site:
    """All its machines see the folder `here`, with a plan in it."""

    here: Path
    head: Machine
    nodes: Sequence[Machine]
    host: Machine
    cluster: str
    """Its address."""

    @property
    def target(self) -> str:
        """The built-in host, on a machine of its own."""
        return f"telnet://{self.host.address}:{PORT}"

    @property
    def on_nodes(self) -> list[str]:
        return ["--engine", f"ray:{self.cluster}", "--nodes", str(len(self.nodes))]

    def new_folder(self) -> Path:
        return Path(mkdtemp(dir=self.here))

    def command(self, verb: str, out: Path, *flags: str) -> list[str]:
        """The command that plays the plan; flags override it."""
        words = [CUESTA, verb, "plan.toml", "--target", self.target, "--out", str(out), "--quiet", *flags]
        return ["env", "-C", str(self.here), *words]

    def run(self, verb: str, out: Path, *flags: str) -> "subprocess.CompletedProcess[str]":
        return self.head.run(self.command(verb, out, *flags), env=environment())

    def start(self, out: Path, *flags: str) -> "subprocess.Popen[str]":
        """Start a run, and return when both of its agents have recorded some seconds."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        running = self.head.start(self.command("run", out, *flags), env=environment(), **pipes)
        records = [out / f"agent-{number}" / "series.jsonl" for number in range(len(self.nodes))]
        wait_until(lambda: all(path.exists() and path.read_text().count("\n") > 3 for path in records), running)
        return running


@contextmanager
def open_site(here: Path, nodes: int) -> Iterator[Site]:
    """Have a site with `nodes` nodes during the block."""
    (here / "plan.toml").write_text(PLAN)
    (here / "row.tape").write_text(TAPE)
    with machines([*AHEAD[: nodes + 1], 777], here) as (head, *others, host):
        listen = ["--listen", f"telnet://{host.address}:{PORT}", "--allow", f"{NETWORK}.0/24"]
        command = [CUESTA, "host", *listen, "--service", "transaction 150"]
        with (
            ray_cluster(head, others) as cluster,
            host.start(command, stdout=subprocess.PIPE) as listening,
        ):
            try:
                assert listening.stdout
                assert listening.stdout.readline()
                yield Site(here, head, others, host, cluster)
            finally:
                host.end()


def commands_of(word: str, *nodes: Machine) -> list[int]:
    """The processes on some nodes with a word in their command."""
    return [pid for node in nodes for pid, command in node.processes().items() if word in command]


def kill(word: str, node: Machine, how: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to all processes of a node that have a word in their command. Fails if there are none."""
    found = commands_of(word, node)
    assert found
    for pid in found:
        os.kill(pid, how)


def wait_until(has_come: Callable[[], bool], running: "subprocess.Popen[str] | None" = None, most: float = 60) -> None:
    """Wait, while a process is running; at most `most` seconds."""
    until = time.monotonic() + most
    while not has_come():
        assert running is None or running.poll() is None, running.communicate() if running else ""
        assert time.monotonic() < until
        signal.sigtimedwait([], 0.1)
