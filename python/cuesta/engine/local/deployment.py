"""The processes of a segment on this machine: host, agents and meters, and what works on the wire between them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cuesta import _native
from cuesta.engine.job import Job
from cuesta.engine.local.agent import ProcessAgent, start_agents
from cuesta.engine.local.builtin_host import HostProcess, run_host
from cuesta.engine.local.meter_source import SegmentFacts, choose_sources
from cuesta.engine.local.metering import Metering, run_all_meters
from cuesta.engine.local.neighbour import Neighbour, run_neighbour
from cuesta.engine.local.network.wire import Recording, WireRecord
from cuesta.engine.local.placement import Placement, may_spin
from cuesta.engine.local.readings import take_readings
from cuesta.engine.ports import Agent
from cuesta.engine.sharing import share_groups
from cuesta.engine.spec import Threads, host_spec
from cuesta.plan import Segment
from cuesta.plan.followed_users import NONE
from cuesta.private_files import replace_json
from cuesta.records.rows import MeterRecord
from cuesta.target import BUILTIN_HOST


def never_lost() -> None:
    """This machine is there as long as the engine is."""


@dataclass(frozen=True, slots=True)
class Drivers:
    """The agents of a segment, wherever they are."""

    starting: AbstractContextManager[Sequence[Agent]]
    """Has them started during the block."""
    why_lost: Callable[[], str | None] = never_lost
    """Why nothing can be expected of their nodes any more."""


@dataclass(frozen=True, slots=True)
class LocalDeployment:
    """What runs in a segment."""

    agents: Sequence[Agent]
    drivers: Drivers
    threads: Threads
    environment: Mapping[str, str]
    folder: Path
    meters: Sequence[Metering]
    """Those of each host that is metered."""
    host: HostProcess | None
    """The built-in host, if it is the target."""
    wire: WireRecord | None
    """The record of the wire between driver and host, if there is one."""
    neighbour: Neighbour | None = None
    """What runs the neighbours of its steps, if they have any."""

    def address(self) -> str | None:
        """Also record the host's specification, address and notes."""
        if self.host is None:
            return None
        address, notes = self.host.addresses()[0], self.host.notes()
        record = {"spec": {**self.host.spec, "meters": None}, "address": address, "notes": notes}
        replace_json(self.folder / "host" / "host.json", {**record, "clock": _native.clock_name()})
        return address

    def why_lost(self) -> str | None:
        return self.drivers.why_lost()

    def how_host_ended(self) -> str | None:
        return self.host.how_it_ended() if self.host else None

    def wait_for_meters(self) -> None:
        for each in self.meters:
            each.wait_until_it_reads()

    def expect(self, number: int, settled: int, end: int) -> None:
        """The built-in host's rows end at both bounds too."""
        if self.host:
            self.host.end_rows_at([settled, end])
        if self.wire:
            self.wire.expect(number, settled, end)
        if self.neighbour:
            self.neighbour.expect(number, settled, end)
        for each in self.meters:
            each.expect(number, settled, end)

    def cut(self, number: int, at: int) -> None:
        if self.host:
            self.host.end_rows_at([at])
        if self.wire:
            self.wire.cut(number, at)
        for each in self.meters:
            each.cut(number, at)

    def expect_no_more(self) -> None:
        for each in self.meters:
            each.expect_no_more()

    def meter_rows(self) -> Sequence[MeterRecord]:
        return [each.newest for each in self.meters if each.newest]

    def has_reported(self, number: int) -> bool:
        return all(each.has_reported(number) for each in self.meters)


def deploy_here(
    job: Job, segment: Segment, folder: Path, placement: Placement
) -> AbstractContextManager[LocalDeployment]:
    """Run host, agents and meters on this machine during the block; they start side by side."""
    numbers = range(share_groups(segment.steps[0].settings).agents)
    drivers = Drivers(start_agents(numbers, folder, job.plan.here, placement.driver_prefix))
    return deploy(job, segment, folder, placement, drivers)


@contextmanager
def deploy(
    job: Job,
    segment: Segment,
    folder: Path,
    placement: Placement,
    drivers: Drivers,
) -> Iterator[LocalDeployment]:
    """Run host and meters on this machine during the block, and agents wherever they are."""
    settings = segment.steps[0].settings
    targets = list(dict.fromkeys(group.target for group in settings.group))
    with (
        take_readings(job.readings, folder) as environment,
        placement.shape_traffic(settings) as recording,
        _host(job, segment, folder, placement) as host,
        drivers.starting as agents,
        run_neighbour(segment, folder, job.plan.here, placement.host_cpus) as neighbour,
    ):
        pids = [agent.process.pid for agent in agents if isinstance(agent, ProcessAgent)]
        own = host.process.pid if host else None
        followed = settings.path != NONE
        facts = SegmentFacts(
            targets, own, placement.host_cpus, pids, bool(placement.sides), placement.is_apart, followed
        )
        sources = choose_sources(settings.meters, facts, job.metered_every)
        spinning = may_spin(set(targets), has_own_cpus=placement.driver_cpus is not None or placement.is_apart)
        priority = neighbour is not None or any(group.background for group in settings.group)
        threads = Threads(placement.driver_cpus, spinning, priority)
        with run_all_meters(sources, folder) as meters, _wire(recording, folder, host, pids) as wire:
            if neighbour:
                neighbour.wait_until_ready()
            yield LocalDeployment(agents, drivers, threads, environment, folder, meters, host, wire, neighbour)


@contextmanager
def _host(job: Job, segment: Segment, folder: Path, placement: Placement) -> Iterator[HostProcess | None]:
    """Run the built-in host if a group has it as target."""
    step = segment.steps[0]
    if all(group.target != BUILTIN_HOST for group in step.settings.group):
        yield None
        return
    meters = (folder / "host").absolute()
    meters.mkdir(mode=0o700)
    own = {"seed": step.settings.seed, "cpus": placement.host_cpus, "meters": str(meters), "allow": placement.allow}
    service = job.service(step)
    speeds = [group.line_speed for group in step.settings.group if group.target == BUILTIN_HOST]
    spec = host_spec(step.settings.host, service, [placement.listen(service, speeds[0])], own)
    with run_host(spec, job.plan.here, placement.host_prefix) as host:
        yield host


@contextmanager
def _wire(
    recording: Recording | None, folder: Path, host: HostProcess | None, drivers: list[int]
) -> Iterator[WireRecord | None]:
    """Record the wire between driver and host."""
    if recording is None or host is None:
        yield None
        return
    with recording(folder, {"driver": drivers[0], "host": host.process.pid}) as wire:
        yield wire
