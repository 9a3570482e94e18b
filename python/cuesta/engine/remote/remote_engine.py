"""An engine whose agents are on other machines; the built-in host, the meters and the records are on this one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from cuesta import __version__, machine
from cuesta.engine.count_needs import count_needs
from cuesta.engine.job import Job
from cuesta.engine.local import meter_source, preflight
from cuesta.engine.local.deployment import Drivers, LocalDeployment, deploy
from cuesta.engine.local.placement import Placement
from cuesta.engine.node_needs import Lack, refuse
from cuesta.engine.ports import Row
from cuesta.engine.remote.remote_agent import RemoteAgent
from cuesta.errors import CuestaError, InputError
from cuesta.line_kinds import OWN_PROGRAMS
from cuesta.plan import Segment
from cuesta.target import kind_of


@dataclass(frozen=True, slots=True)
class RemoteNode:
    """A machine that has agents."""

    name: str
    address: str
    machine: Mapping[str, object]


class Links(Protocol):
    """The ways to the nodes of a run. Nodes are numbered from 0."""

    def check(self, needs: Sequence[Row]) -> Sequence[Sequence[Row]]:
        """What each node lacks of its needs."""

    def start_agents(
        self, job: Job, segment: Segment, folder: Path, /
    ) -> AbstractContextManager[Sequence[RemoteAgent]]:
        """Have the agents of a segment started during the block; their records arrive in `folder`."""

    def why_lost(self) -> str | None:
        """Why nothing can be expected of any node any more; None if it can."""


@dataclass(frozen=True, slots=True)
class RemoteNodes:
    """The nodes of a run."""

    nodes: Sequence[RemoteNode]
    links: Links
    placement: Placement

    def describe(self) -> Mapping[str, object]:
        nodes = [{"name": node.name, "machine": node.machine} for node in self.nodes]
        return {"machine": machine.facts(), "placed": None, "nodes": nodes}

    def deploy(self, job: Job, segment: Segment, folder: Path) -> AbstractContextManager[LocalDeployment]:
        starting = self.links.start_agents(job, segment, folder)
        return deploy(job, segment, folder, self.placement, Drivers(starting, self.links.why_lost))


@dataclass(frozen=True, slots=True)
class RemoteEngine:
    """An engine on nodes that were reserved before."""

    nodes: RemoteNodes

    def check(self, job: Job) -> None:
        settings = job.plan.settings
        if used := [name for name in ("pin", "isolate") if getattr(settings, name)]:
            what = f"{used[0]}: it divides this machine between driver and host, and the driver is on other machines"
            raise InputError(what, "leave it out")
        if job.readings and any(kind_of(group.target) in OWN_PROGRAMS for group in settings.group):
            what = "programs that are started on other machines cannot be certified: what they take is read on this one"
            raise InputError(what, "certify them on each machine: --engine local")
        preflight.check_host(job)
        names = [node.name for node in self.nodes.nodes]
        lacks = self.nodes.links.check([count_needs(job, number).as_row() for number in range(len(names))])
        refuse({name: [Lack(**row) for row in rows] for name, rows in zip(names, lacks, strict=True)})

    def why_untraced(self, meters: str) -> str | None:
        return meter_source.why_untraced(meters)

    def reserve(self, _: Job) -> AbstractContextManager[RemoteNodes]:
        return nullcontext(self.nodes)


def engine_on_nodes(
    described: Sequence[Mapping[str, Any]], links: Links, engine_address: str, install: str
) -> RemoteEngine:
    """The engine of nodes, each described by its `host` and `address` names, its `version` of Cuesta and its `machine`.

    `install` is how Cuesta is installed there. Raises CuestaError unless all nodes have this version of Cuesta.
    """
    names = name_nodes(described)
    check_versions(names, [each["version"] for each in described], install)
    nodes = [RemoteNode(name, each["address"], each["machine"]) for name, each in zip(names, described, strict=True)]
    addresses = tuple(dict.fromkeys(node.address for node in nodes))
    return RemoteEngine(RemoteNodes(nodes, links, Placement(address=engine_address, nodes=addresses)))


def check_versions(names: Sequence[str], versions: Sequence[str | None], install: str) -> None:
    """Raise CuestaError unless all nodes have this version of Cuesta; None is none."""
    rows = [
        f"{name} has {f'Cuesta {version}' if version else 'no Cuesta'}"
        for name, version in zip(names, versions, strict=True)
        if version != __version__
    ]
    if rows:
        raise CuestaError(f"all nodes need Cuesta {__version__}: {', '.join(rows)}", install)


def name_nodes(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names that tell nodes apart: what they call themselves, else their addresses, else these with a number."""
    for names in ([node["host"] for node in nodes], [node["address"] for node in nodes]):
        if max(Counter(names).values()) == 1:
            return names
    return [f"{node['address']}#{number}" for number, node in enumerate(nodes, 1)]
