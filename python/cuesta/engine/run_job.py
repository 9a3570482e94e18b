"""Makes a run on this machine: starts, follows and ends the processes of host, agents and meters."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cuesta import machine
from cuesta.engine.agents import Agent, Snapshot, ending, follow, instruct, start_agents, start_together
from cuesta.engine.folder import describe, run_folder, write_json
from cuesta.engine.job import SECOND, Job, timeline
from cuesta.engine.local import preflight
from cuesta.engine.local.builtin_host import Running, builtin_host
from cuesta.engine.local.meter_source import SegmentFacts, choose_source
from cuesta.engine.local.metering import Metering, metering
from cuesta.engine.local.network.multiplexing import TmuxAgents
from cuesta.engine.local.network.wire import WireRecord, recording
from cuesta.engine.local.placement import Placement, place
from cuesta.engine.spec import host_spec, run_spec
from cuesta.errors import CuestaError
from cuesta.plan import Segment
from cuesta.target import BUILTIN_HOST

METERS_START = 5 * SECOND
"""If measuring begins sooner than this, the agents wait for the meters, which start slowly on a busy machine."""

Look = Callable[[list[Snapshot]], None]
"""Called a few times a second with the newest snapshot of each agent."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended; its folder has what was measured."""

    folder: Path
    interrupted: bool
    failures: list[str]
    """Failures of the driver; those of the host are counted in the records."""


def run_job(job: Job, out: Path, look: Look, stopping: threading.Event) -> RunResult:
    """Run the job into a run folder. If `stopping` is set, end early; the folder keeps what was measured."""
    preflight.check(job)
    failures: list[str] = []
    about = machine.facts()  # before the placement restricts this process to some CPUs
    with run_folder(out) as folder, place(job) as placement:
        describe(folder, job, datetime.now(UTC), about, placement)
        for segment in job.plan.segments():
            if stopping.is_set() or failures:
                break
            follows = partial(follow, look=look, stopping=stopping)
            failures = _run_segment(job, segment, folder / segment.folder, placement, follows)
    return RunResult(folder, stopping.is_set(), failures)


@dataclass(frozen=True, slots=True)
class Driven:
    """A segment whose agents have started."""

    agents: list[Agent]
    meters: Metering
    host: Running | None
    """The built-in host, if it is the target."""
    wire: WireRecord | None
    """The record of the wire between driver and host, if there is one."""
    start_at: int
    """Nanoseconds of the monotonic clock; a step's times count from here."""

    def expect(self, number: int, settled: int, end: int) -> None:
        """Have the meters report a step, and the built-in host's rows end at its bounds; ns from the start."""
        if self.host:
            self.host.end_rows_at([self.start_at + settled, self.start_at + end])
        if self.wire:
            self.wire.expect(number, self.start_at + settled, self.start_at + end)
        self.meters.expect(number, self.start_at + settled, self.start_at + end)

    def failures(self) -> list[str]:
        """The agents that failed, and why. Raises CuestaError if no agent recorded anything."""
        failures = [f"agent {agent.number}: {agent.failure}" for agent in self.agents if agent.failure]
        if failures and all(agent.latest is None for agent in self.agents):
            raise CuestaError("the run cannot start: " + "; ".join(failures))
        return failures


def _run_segment(
    job: Job, segment: Segment, folder: Path, placement: Placement, follows: Callable[[list[Agent]], None]
) -> list[str]:
    with driving(job, segment, folder, placement) as driven:
        for number, step in enumerate(timeline(segment)):
            driven.expect(number, step.settled, step.end)
        driven.meters.expect_no_more()
        follows(driven.agents)
    return driven.failures()


@contextmanager
def driving(
    job: Job, segment: Segment, folder: Path, placement: Placement, most: Sequence[int] | None = None
) -> Iterator[Driven]:
    """Run the host, the agents, the meters and what works on the wire of a segment during the block.

    `most` has the most users of each group, if steps may be added.
    """
    settings = segment.steps[0].settings
    folder.mkdir(mode=0o700, exist_ok=True)
    with placement.works_on_the_wire(settings) as tmux, _host(job, segment, folder, placement) as host:
        agents = start_agents(settings.agents, placement.driver_prefix)  # host, agents and meters start side by side
        where = choose_source(settings.meters, _known(segment, host, placement, agents), job.metered_every)
        with ending(agents), metering(where, folder) as meters:
            address = _address(host, folder) if host else None
            spec = run_spec(job, segment, address, placement.driver_cpus, most)
            instruct(agents, {"spec": spec, "tapes": _tapes(job), "environment": dict(job.environment)}, folder)
            if job.metered_every or timeline(segment)[0].settled < METERS_START:
                meters.wait_until_it_reads()
            with _wire(folder, placement, host, agents, tmux) as wire:
                yield Driven(agents, meters, host, wire, start_together(agents))


@contextmanager
def _wire(
    folder: Path, placement: Placement, host: Running | None, agents: list[Agent], tmux: TmuxAgents | None
) -> Iterator[WireRecord | None]:
    """Record the wire between driver and host."""
    if placement.sides is None or host is None:
        yield None
        return
    with recording(folder, {"driver": agents[0].process.pid, "host": host.process.pid}, tmux) as wire:
        yield wire


def _tapes(job: Job) -> dict[str, dict[str, str]]:
    tapes = job.tapes.values()
    return {tape.name: {"text": tape.text, "name": tape.name, "folder": str(tape.folder)} for tape in tapes}


def _known(segment: Segment, host: Running | None, placement: Placement, agents: list[Agent]) -> SegmentFacts:
    """The facts by which the meters find the host."""
    targets = dict.fromkeys(group.target for group in segment.steps[0].settings.group)
    drivers = [agent.process.pid for agent in agents]
    return SegmentFacts(
        list(targets), host.process.pid if host else None, placement.host_cpus, drivers, bool(placement.sides)
    )


@contextmanager
def _host(job: Job, segment: Segment, folder: Path, placement: Placement) -> Iterator[Running | None]:
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
    with builtin_host(spec, placement.host_prefix) as host:
        yield host


def _address(host: Running, folder: Path) -> str:
    """Wait until the host listens; record its specification, address and notes."""
    address, notes = host.addresses()[0], host.notes()
    record = {"spec": {**host.spec, "meters": None}, "address": address, "notes": notes}
    write_json(folder / "host" / "host.json", record)
    return address
