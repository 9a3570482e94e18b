"""Machines that ssh reaches as an engine: agents on each of them."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cuesta import __version__
from cuesta.engine.count_needs import count_needs
from cuesta.engine.job import Job
from cuesta.engine.local.meter_source import is_here
from cuesta.engine.node_needs import Lack, refuse
from cuesta.engine.ports import Row
from cuesta.engine.remote.remote_agent import RemoteAgent
from cuesta.engine.remote.remote_engine import RemoteEngine, engine_on_nodes, name_nodes
from cuesta.engine.sharing import share_groups
from cuesta.engine.ssh_nodes.ssh_process import SshProcess, start_ssh
from cuesta.errors import CuestaError
from cuesta.plan import Segment, Settings
from cuesta.target import BUILTIN_HOST

CHECK_TIMEOUT = 60.0
"""Seconds within which a node must have said what it lacks."""
INSTALL = f"install the same version there: pip install cuesta=={__version__}"


@dataclass(frozen=True, slots=True)
class SshLinks:
    """An ssh to each node, and as many more as there are agents."""

    destinations: Sequence[str]
    """The nodes, as ssh is told."""
    names: Sequence[str]
    address: str
    """This machine's address, as the first node sees it."""
    sessions: Sequence[SshProcess]

    def check(self, needs: Sequence[Row]) -> list[list[Row]]:
        self._check_address(needs)
        for session, need in zip(self.sessions, needs, strict=True):
            session.stream.send({"check": need})
        return [self._read_lacks(name, each) for name, each in zip(self.names, self.sessions, strict=True)]

    def why_lost(self) -> None:
        """Each connection tells its own loss."""

    @contextmanager
    def start_agents(self, job: Job, segment: Segment, folder: Path) -> Iterator[list[RemoteAgent]]:
        places = share_groups(segment.steps[0].settings).nodes
        with ExitStack() as stack:
            started = [stack.enter_context(start_ssh(self.destinations[place])) for place in places]
            greet([self.names[place] for place in places], started)
            agents = [
                RemoteAgent(
                    number,
                    self.names[place],
                    ssh.stream,
                    folder / f"agent-{number}",
                    ssh.stream.send,  # ssh encrypts it
                    partial(describe_loss, ssh),
                )
                for number, (place, ssh) in enumerate(zip(places, started, strict=True))
            ]
            for agent, place in zip(agents, places, strict=True):
                needs = count_needs(job, place)
                files = {"descriptors": needs.descriptors, "wanted_descriptors": needs.wanted_descriptors}
                agent.tell({"agent": agent.number, **files})
            yield agents

    def _check_address(self, needs: Sequence[Row]) -> None:
        """Raise CuestaError if the built-in host is the target and nodes cannot reach it."""
        targets = {target["target"] for need in needs for target in need["targets"]}
        if BUILTIN_HOST in targets and not is_here(self.address):
            what = f"{self.names[0]} sees this machine as {self.address}, where the built-in host cannot listen"
            raise CuestaError(what, "run `cuesta host` where nodes reach it, and name it as the target")

    def _read_lacks(self, name: str, session: SshProcess) -> list[Row]:
        match session.stream.receive_one(CHECK_TIMEOUT):
            case {"lacks": list(lacks)}:
                return lacks
        raise CuestaError(f"{name}: {session.why_ended()}")


@contextmanager
def open_machines(settings: Settings) -> Iterator[RemoteEngine]:
    """Have an ssh to each of a plan's machines during the block. Raises CuestaError, with what each of them lacks."""
    destinations = settings.engine.addresses
    with ExitStack() as stack:
        sessions = [stack.enter_context(start_ssh(each)) for each in destinations]
        greetings = greet(destinations, sessions)
        hosts = [each.rpartition("@")[2] for each in destinations]
        described = [{**greeting, "host": host} for greeting, host in zip(greetings, hosts, strict=True)]
        address = described[0]["engine"]
        links = SshLinks(destinations, name_nodes(described), address, sessions)
        yield engine_on_nodes(described, links, f"[{address}]" if ":" in address else address, INSTALL)


def greet(names: Sequence[str], sessions: Sequence[SshProcess]) -> list[dict[str, Any]]:
    """What nodes say that they are. Raises CuestaError with why some of them do not."""
    greetings = [session.read_greeting() for session in sessions]
    refuse({name: [said] for name, said in zip(names, greetings, strict=True) if isinstance(said, Lack)})
    return [said for said in greetings if not isinstance(said, Lack)]


def describe_loss(ssh: SshProcess) -> str:
    return f"lost its connection: {ssh.why_ended()}"
