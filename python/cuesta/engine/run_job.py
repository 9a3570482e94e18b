"""Makes a run: starts its segments one after another on an engine, follows them, and keeps what they record."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from cuesta import _native
from cuesta.engine.agents import BRIEF_PATIENCE, FollowedAgent, follow, listen_to_agents, never, start_together
from cuesta.engine.console import Console, UserRequest
from cuesta.engine.engines import LOCAL
from cuesta.engine.folder import run_folder, write_run
from cuesta.engine.job import SECOND, Job, timeline
from cuesta.engine.ports import Deployment, Engine, Nodes, Observer
from cuesta.engine.sharing import most_users_of
from cuesta.engine.spec import AddedSteps, run_spec
from cuesta.engine.user_changes import UserChanges, why_fixed
from cuesta.engine.watching import WatchRecord
from cuesta.errors import CuestaError
from cuesta.plan import Segment
from cuesta.records.messages import Announcement, EngineMessage, TapeText
from cuesta.records.observation import Observation

METERS_START = 5 * SECOND
"""If measuring begins sooner than this, the agents wait for the meters, which start slowly on a busy machine."""

Judge = Callable[[Path], list[str]]
"""Returns why the run in a folder does not count; empty if it counts."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended; its folder has what was measured."""

    folder: Path
    interrupted: bool
    failures: list[str]
    """Failures of the driver; those of the host are counted in the records."""
    notes: Sequence[str] = ()
    """What else happened, a sentence each."""


def run_job(job: Job, out: Path, console: Console, engine: Engine = LOCAL) -> RunResult:
    """Run the job into a run folder. If `console.stop` is set, end early; the folder keeps what was measured.

    Raises CuestaError if the run cannot start.
    """
    engine.check(job)
    failures, notes = list[str](), list[str]()
    with run_folder(out) as folder, engine.reserve(job) as nodes:
        write_run(folder, job, datetime.now(UTC), nodes)
        for segment in job.plan.segments():
            if console.stop.is_set() or failures:
                break
            watched = replace(console, observer=with_steps_of_the_run(job, segment, console.observer))
            path, fixed = folder / segment.folder, why_fixed(job, console)
            added = None if fixed else AddedSteps([most_users_of(job.plan.settings.group[0].users)], by_cut=True)
            with drive_segment(job, segment, path, nodes, watched, added) as driven:
                _follow_plan(driven, job, segment, folder, fixed)
                notes += driven.notes()
            failures = driven.failures()
    return RunResult(folder, console.stop.is_set(), failures, notes)


def with_steps_of_the_run(job: Job, segment: Segment, observe: Observer) -> Observer:
    """Have steps in snapshots counted in the run: agents count those of their segment."""
    first, steps = segment.first, len(job.plan.steps)

    def look(seen: Observation) -> None:
        snapshots = [replace(each, step=first + each.step, steps=max(steps, each.steps)) for each in seen.snapshots]
        observe(replace(seen, snapshots=snapshots))

    return look


def _follow_plan(driven: "Driven", job: Job, segment: Segment, folder: Path, fixed: str) -> None:
    """Follow the steps of a segment to its end; `folder` is the run's.

    `fixed` says why its users stay as planned; empty if they can be changed.
    """
    for number, step in enumerate(timeline(segment)):
        driven.expect(number, step.settled, step.end)
    if fixed:
        driven = replace(driven, change_users=lambda _: f"the number of users stays as planned: {fixed}")
        driven.deployment.expect_no_more()
    else:
        driven = replace(driven, change_users=UserChanges(job, folder, driven).change)
    driven.follow(driven.is_spoilt)
    driven.give_up()


def keep_users(_: UserRequest) -> str:
    """Answer who asks for more or fewer users of a search."""
    return "the number of users stays: a search chooses it itself"


@dataclass(frozen=True, slots=True)
class Driven:
    """A segment whose agents have started."""

    agents: list[FollowedAgent]
    deployment: Deployment
    start_at: int
    """Nanoseconds of the engine's clock; a step's times count from here."""
    console: Console
    record: WatchRecord
    change_users: Callable[[UserRequest], str] = keep_users
    """Adds or takes users, or says why not, in a sentence."""

    def follow(self, until: Callable[[], bool] = never) -> None:
        """Let those who watch look at intervals, until all agents end or `until` is true, or they stop the run."""
        follow(self.agents, self._look, self.console.stop, until)

    def obey(self, orders: Sequence[EngineMessage]) -> None:
        """Have all agents do what those who watch ask for."""
        for order in orders:
            for agent in self.agents:
                agent.obey(order)

    def _look(self) -> None:
        """Have the agents do what was asked for, and show what is seen."""
        self.obey(self.console.requests.take_orders())
        for asked in self.console.requests.take_changes():
            self.console.requests.answer(self.change_users(asked))
        self.record.note(self.console.requests.take_marks())
        self.record.look(_native.now())
        snapshots = [each.latest for each in self.agents if each.latest]
        screens = [screen for each in self.agents for screen in each.screens]
        meters, marks = self.deployment.meter_rows(), tuple(self.record.marks)
        answers = self.console.requests.answers()
        seen = Observation(snapshots=snapshots, screens=screens, meters=meters, marks=marks, answers=answers)
        self.console.observer(seen)

    def expect(self, number: int, settled: int, end: int) -> None:
        """Have the meters report a step, and what watching it cost be recorded; ns from the start."""
        self.deployment.expect(number, self.start_at + settled, self.start_at + end)
        self.record.expect(number, settled, end)

    def cut(self, number: int, at: int) -> None:
        """Have an expected step end at an instant ahead; ns from the start."""
        self.deployment.cut(number, self.start_at + at)
        self.record.cut(number, at)

    def announce(self, announcement: Announcement) -> None:
        """Tell all agents a change of the schedule. Its times are nanoseconds from the start."""
        for agent in self.agents:
            agent.announce(announcement, self.start_at)

    def notes(self) -> list[str]:
        """That the built-in host has ended, if so."""
        how = self.deployment.how_host_ended()
        return [f"the built-in host ended during the run: it {how}"] if how else []

    def is_spoilt(self) -> bool:
        """Whether the figures of a run are: an agent has failed or stalled, or the nodes are lost."""
        is_lost = bool(self.deployment.why_lost())
        return is_lost or any(each.failure or each.silence.longest for each in self.agents)

    def give_up(self) -> None:
        """Record which agents spoil the run, if any do, and why: those that stalled, or all if the nodes are lost.

        The connection of a process that was killed may end some time after its last word. Why it ended tells more.
        """
        lost, known = self.deployment.why_lost(), _native.now() + int(BRIEF_PATIENCE * SECOND)
        for each in self.agents:
            if lost:
                each.give_up(f"was given up: {lost}")
            elif each.silence.longest:
                each.gone.wait(max(known - _native.now(), 0) / 1e9)
                each.give_up(f"said nothing for {each.silence.longest / 1e9:.1f} s")

    def failures(self) -> list[str]:
        """The agents that failed, and why. Raises CuestaError if no agent recorded anything."""
        failures = [f"{each.name}: {each.failure}" for each in self.agents if each.failure]
        if failures and all(each.latest is None for each in self.agents):
            raise CuestaError("the run cannot start: " + "; ".join(failures))
        return failures


@contextmanager
def drive_segment(  # noqa: PLR0913, PLR0917, what a segment is made of
    job: Job, segment: Segment, folder: Path, nodes: Nodes, console: Console, added: AddedSteps | None = None
) -> Iterator[Driven]:
    """Run a segment's host, agents and meters during the block; `added` says that steps may be added to it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    console.observer(Observation(snapshots=()))  # a host and its agents may take some seconds to start
    with nodes.deploy(job, segment, folder) as deployment, listen_to_agents(deployment.agents, folder) as agents:
        spec = run_spec(job, segment, deployment.address(), deployment.threads, added)
        for agent in agents:
            agent.instruct(spec, _tapes(job), deployment.environment)
        if job.metered_every or timeline(segment)[0].settled < METERS_START:
            deployment.wait_for_meters()
        start_at = start_together(agents)
        record = WatchRecord(folder, start_at, tuple(console.watchers))
        driven = Driven(agents, deployment, start_at, console, record)
        driven.obey(console.requests.standing())
        try:
            yield driven
        finally:
            record.note(console.requests.take_marks())
            record.close(_native.now())


def _tapes(job: Job) -> dict[str, TapeText]:
    """What a tape is assembled of: a node need not have its files."""
    return {
        tape.name: TapeText(text=tape.text, name=tape.name, sources=tape.content.sources())
        for tape in job.tapes.values()
    }
