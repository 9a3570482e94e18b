"""A Ray cluster as an engine: agents on its nodes; the built-in host, the meters and the records on this machine."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cuesta import __version__, machine
from cuesta.engine.count_needs import count_needs
from cuesta.engine.job import Job
from cuesta.engine.local import meter_source, preflight
from cuesta.engine.local.deployment import Drivers, LocalDeployment, deploy
from cuesta.engine.local.placement import Placement
from cuesta.engine.node_needs import Lack, refuse
from cuesta.engine.ports import Row
from cuesta.engine.ray.cluster import RayCluster, join_cluster
from cuesta.engine.remote.arrivals import listen_at
from cuesta.engine.remote.remote_agent import RemoteAgent
from cuesta.engine.sharing import share_groups
from cuesta.errors import CuestaError, InputError
from cuesta.plan import Segment, Settings

TOLD = 3.0
"""Seconds within which Ray tells why an actor died whose connection has ended."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the cluster."""

    name: str
    address: str
    machine: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RayNodes:
    """The nodes that were asked for, an actor on each."""

    cluster: RayCluster
    nodes: Sequence[Node]
    placement: Placement

    def describe(self) -> Mapping[str, object]:
        nodes = [{"name": node.name, "machine": node.machine} for node in self.nodes]
        return {"machine": machine.facts(), "placed": None, "nodes": nodes}

    def deploy(self, job: Job, segment: Segment, folder: Path) -> AbstractContextManager[LocalDeployment]:
        starting = self._start_agents(segment.steps[0].settings, folder)
        return deploy(job, segment, folder, self.placement, Drivers(starting, lambda: self.cluster.lost))

    @contextmanager
    def _start_agents(self, settings: Settings, folder: Path) -> Iterator[list[RemoteAgent]]:
        """Start the agents, which connect to a port of this machine; none is left after the block."""
        places = share_groups(settings).nodes
        numbers = range(len(places))
        with listen_at(self.placement.address) as arrivals:
            about = {"engine": arrivals.address, "token": arrivals.token}
            self.cluster.call(places, "start", [{**about, "agent": number} for number in numbers])
            streams = arrivals.collect(len(numbers))
        try:
            if missing := [self.nodes[places[number]].name for number in numbers if number not in streams]:
                remedy = f"its firewall must let it connect to {self.placement.address}, at any port"
                raise CuestaError(f"no agent of {', '.join(missing)} has connected to the engine", remedy)
            yield [
                RemoteAgent(
                    number,
                    self.nodes[place].name,
                    streams[number],
                    folder / f"agent-{number}",
                    partial(self._send_order, number, place),
                    partial(self._describe_loss, place),
                )
                for number, place in zip(numbers, places, strict=True)
            ]
        finally:
            for stream in streams.values():
                stream.close()

    def _send_order(self, number: int, place: int, row: Row) -> None:
        self.cluster.call([place], "order", [{"agent": number, "row": row}])

    def _describe_loss(self, place: int) -> str:
        why = self.cluster.lost or self.cluster.why_died(place, TOLD)
        return f"lost its connection{f': {why}' if why else ''}"


@dataclass(frozen=True, slots=True)
class RayEngine:
    """A cluster that has room for all nodes."""

    nodes: RayNodes

    def check(self, job: Job) -> None:
        settings = job.plan.settings
        if used := [name for name in ("pin", "isolate") if getattr(settings, name)]:
            what = f"{used[0]}: it divides this machine between driver and host, and the driver is on other machines"
            raise InputError(what, "leave it out")
        preflight.check_host(job)
        numbers = range(len(self.nodes.nodes))
        lacks = self.nodes.cluster.call(numbers, "check", [count_needs(job, number).as_row() for number in numbers])
        names = [node.name for node in self.nodes.nodes]
        refuse({name: [Lack(**row) for row in rows] for name, rows in zip(names, lacks, strict=True)})

    def why_untraced(self, meters: str) -> str | None:
        return meter_source.why_untraced(meters)

    def reserve(self, _: Job) -> AbstractContextManager[RayNodes]:
        return nullcontext(self.nodes)


@contextmanager
def open_cluster(settings: Settings) -> Iterator[RayEngine]:
    """Have an actor on each of a plan's nodes during the block. Raises CuestaError if the cluster has no room."""
    address = next(iter(settings.engine.addresses), None)
    with join_cluster() as cluster:
        opened = cluster.open(address, settings.nodes, settings.agents * settings.threads)
        check_versions(opened["nodes"])
        names = name_nodes(opened["nodes"])
        nodes = [
            Node(name, each["address"], each["machine"]) for name, each in zip(names, opened["nodes"], strict=True)
        ]
        addresses = tuple(dict.fromkeys(node.address for node in nodes))
        yield RayEngine(RayNodes(cluster, nodes, Placement(address=opened["address"], nodes=addresses)))


def check_versions(nodes: Sequence[Mapping[str, Any]]) -> None:
    """Raise CuestaError unless all nodes have this version of Cuesta."""
    wrong = {name: node["version"] for name, node in zip(name_nodes(nodes), nodes, strict=True)}
    rows = [
        f"{name} has {f'Cuesta {version}' if version else 'no Cuesta'}"
        for name, version in wrong.items()
        if version != __version__
    ]
    if rows:
        what = f"all nodes need Cuesta {__version__}: {', '.join(rows)}"
        raise CuestaError(
            what, f'install it there, for the Python that Ray runs: pip install "cuesta[ray]=={__version__}"'
        )


def name_nodes(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names that tell nodes apart: what they call themselves, else their addresses, else these with a number."""
    for names in ([node["host"] for node in nodes], [node["address"] for node in nodes]):
        if max(Counter(names).values()) == 1:
            return names
    return [f"{node['address']}#{number}" for number, node in enumerate(nodes, 1)]
