"""A Ray cluster as an engine: agents on its nodes."""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cuesta import __version__
from cuesta.engine.job import Job
from cuesta.engine.ports import Row
from cuesta.engine.ray.cluster import RayCluster, join_cluster
from cuesta.engine.remote.arrivals import listen_at
from cuesta.engine.remote.remote_agent import RemoteAgent
from cuesta.engine.remote.remote_engine import RemoteEngine, engine_on_nodes, name_nodes
from cuesta.engine.sharing import share_groups
from cuesta.errors import CuestaError, find_remedy
from cuesta.plan import Segment, Settings
from cuesta.units import join_words, many

CONNECT_TIMEOUT = 5.0
"""Seconds within which the head of a cluster must take a connection."""
DEATH_TIMEOUT = 3.0
"""Seconds within which Ray tells why an actor died whose connection has ended."""
UNREACHED = ("timed out", "refused", "unreachable", "no route")
"""Words in an actor's error if its node does not reach the engine."""
INSTALL = f'install it there, for the Python that Ray runs: pip install "cuesta[ray]=={__version__}"'


@dataclass(frozen=True, slots=True)
class RayLinks:
    """An actor on each node, which is called through Ray."""

    cluster: RayCluster
    names: Sequence[str]
    """Of the nodes."""
    address: str
    """Of this machine, where agents connect."""

    def check(self, needs: Sequence[Row]) -> list[Any]:
        return self.cluster.call(range(len(needs)), "check", needs)

    def why_lost(self) -> str | None:
        return self.cluster.lost

    @contextmanager
    def start_agents(self, _: Job, segment: Segment, folder: Path) -> Iterator[list[RemoteAgent]]:
        """Start the agents, which connect to a port of this machine; none is left after the block."""
        places = share_groups(segment.steps[0].settings).nodes
        numbers = range(len(places))
        with listen_at(self.address) as arrivals:
            about = {"engine": arrivals.address, "token": arrivals.token}
            remedy = f"a firewall must let the node connect to {self.address}, at any port"
            try:
                self.cluster.call(places, "start", [{**about, "agent": number} for number in numbers])
            except CuestaError as error:
                raise CuestaError(str(error), find_remedy(str(error), dict.fromkeys(UNREACHED, remedy))) from None
            streams = arrivals.collect(len(numbers))
        try:
            if missing := [self.names[places[number]] for number in numbers if number not in streams]:
                raise CuestaError(f"no agent of {', '.join(missing)} has connected to the engine", remedy)
            yield [
                RemoteAgent(
                    number,
                    self.names[place],
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
        why = self.cluster.lost or self.cluster.why_died(place, DEATH_TIMEOUT)
        return f"lost its connection{f': {why}' if why else ''}"


@contextmanager
def open_cluster(settings: Settings, tell: Callable[[str], None]) -> Iterator[RemoteEngine]:
    """Have an actor on each of a plan's nodes during the block. Raises CuestaError if the cluster has no room."""
    address = next(iter(settings.engine.addresses), None)
    here = {None: "starts a Ray cluster on this machine", "auto": "joins the Ray cluster of this machine"}
    what = here.get(address, f"joins the Ray cluster at {address}")
    tell(f"cuesta {what}, for {many(settings.nodes, 'node')}")
    check_address(address)
    with join_cluster(address, settings.nodes, settings.agents * settings.threads) as (cluster, opened):
        cluster.names = names = name_nodes(opened["nodes"])
        tell(f"nodes: {join_words(names)}")
        links = RayLinks(cluster, names, opened["address"])
        yield engine_on_nodes(opened["nodes"], links, opened["address"], INSTALL)


def check_address(address: str | None) -> None:
    """Raise CuestaError if nothing listens at the address of a cluster: Ray itself tries it for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if not colon:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT).close()
    except OSError as error:
        what = f"no Ray cluster answers at {address}: {(error.strerror or str(error)).lower()}"
        raise CuestaError(what, "see `ray status` on a machine of the cluster for its address") from None
