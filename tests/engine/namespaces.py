"""A second engine: each agent is on a node with a network, a clock and folders of its own. As root.

A node is a process that holds the namespaces. The host and the meters stay where the engine is; a wire leads from each
node to it. Nothing of the engine's folder exists on a node: an agent records into memory of the node, from where its
records are fetched, also when the agent is dead.
"""

import io
import os
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cuesta import machine
from cuesta.engine.job import Job
from cuesta.engine.local.agent import COMMAND, ProcessAgent
from cuesta.engine.local.deployment import Drivers, LocalDeployment, deploy
from cuesta.engine.local.placement import Placement
from cuesta.engine.sharing import share_groups
from cuesta.plan import Segment
from tests.own_network import own_network

HOST = "198.19.255.1"
"""The address at which the host listens."""
AHEAD = (5_000, 9_000)
"""Seconds by which the clock of each node is ahead of the engine's."""


@dataclass(frozen=True, slots=True)
class Node:
    """The process that holds the namespaces of a node."""

    process: subprocess.Popen[bytes]
    address: str
    ahead: int
    """Nanoseconds by which its clock is ahead of the engine's: what its agent is expected to find."""

    def command_prefix(self, *namespaces: str) -> list[str]:
        return ["nsenter", "--target", str(self.process.pid), *(f"--{name}" for name in namespaces)]


@dataclass(slots=True)
class NodeAgent(ProcessAgent):
    """An agent on a node."""

    place: Node | None = None

    def fetch(self, folder: Path) -> None:
        assert self.place
        command = [*self.place.command_prefix("mount"), "tar", "--create", "--directory", self.records, "."]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.stdout:  # nothing, if it died before it recorded
            with tarfile.open(fileobj=io.BytesIO(done.stdout)) as records:
                records.extractall(folder, filter="data")


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a run."""

    nodes: Sequence[Node]
    agents: list[NodeAgent] = field(default_factory=list)
    """Of the last segment that was started."""

    def describe(self) -> Mapping[str, object]:
        return {"machine": machine.facts(), "placed": None}

    def deploy(self, job: Job, segment: Segment, folder: Path) -> AbstractContextManager[LocalDeployment]:
        placement = Placement(address=HOST, nodes=[node.address for node in self.nodes])
        return deploy(job, segment, folder, placement, Drivers(self._start_agents(folder)))

    @contextmanager
    def _start_agents(self, folder: Path) -> Iterator[Sequence[NodeAgent]]:
        with ExitStack() as stack:
            started = (agent(number, node, folder) for number, node in enumerate(self.nodes))
            self.agents[:] = map(stack.enter_context, started)
            yield self.agents


@dataclass(slots=True)
class NamespaceEngine:
    """The built-in host here, and agents on nodes."""

    hidden: Path
    """The folder of which a node sees nothing: an empty one stands in its place."""
    reserved: Nodes = field(default_factory=lambda: Nodes(()))
    """The nodes of the last run."""

    def check(self, _: Job) -> None:
        assert os.geteuid() == 0, "this engine makes namespaces, which needs root"

    def why_untraced(self, _: str) -> str | None:
        return None

    @contextmanager
    def reserve(self, job: Job) -> Iterator[Nodes]:
        with own_network(), ExitStack() as stack:
            subprocess.run(["ip", "address", "add", HOST, "dev", "lo"], check=True)
            count = share_groups(job.plan.settings).agents
            self.reserved = Nodes(
                [stack.enter_context(node(number, AHEAD[number], self.hidden)) for number in range(count)]
            )
            yield self.reserved


@contextmanager
def node(number: int, ahead: int, hidden: Path) -> Iterator[Node]:
    """Hold a network joined to ours, a clock, and an empty folder in place of the hidden one."""
    address = f"198.19.{number}.2"
    script = 'mount -t tmpfs none "$0" && echo made && exec cat'
    namespaces = ["unshare", "--net", "--mount", "--time", "--monotonic", str(ahead)]
    with subprocess.Popen(
        [*namespaces, "sh", "-c", script, hidden], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            assert process.stdout.readline() == b"made\n"
            made = Node(process, address, ahead * 1_000_000_000)
            _join(made, number)
            yield made
        finally:
            process.stdin.close()


def _join(made: Node, number: int) -> None:
    """Lead a wire from here to a node."""
    here, gateway = f"node-{number}", f"198.19.{number}.1"
    there = made.command_prefix("net")
    link = ["ip", "link", "add", here, "type", "veth", "peer", "name", "wire", "netns", str(made.process.pid)]
    for command in (
        link,
        ["ip", "address", "add", f"{gateway}/30", "dev", here],
        ["ip", "link", "set", here, "up"],
        [*there, "ip", "address", "add", f"{made.address}/30", "dev", "wire"],
        [*there, "ip", "link", "set", "lo", "up"],
        [*there, "ip", "link", "set", "wire", "up"],
        [*there, "ip", "route", "add", "default", "via", gateway],
    ):
        subprocess.run(command, check=True)


@contextmanager
def agent(number: int, node: Node, folder: Path) -> Iterator[NodeAgent]:
    """Start an agent on a node. Its folder has the same name as here, and is another."""
    records = folder / f"agent-{number}"
    subprocess.run([*node.command_prefix("mount"), "mkdir", "-p", folder], check=True)
    with subprocess.Popen(
        [*node.command_prefix("net", "mount", "time"), *COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield NodeAgent(number, process, str(records), node.address, place=node)
        finally:
            process.kill()
