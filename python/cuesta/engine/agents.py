"""Follows the agents of a segment: instructs them, starts them at one instant, hears them, and fetches their records.

Each agent has a clock of its own (`clocks`): every instant that it is told or that it says is converted here.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from cuesta import _native
from cuesta.engine import passphrases
from cuesta.engine.clocks import READ_EVERY, ROUNDS, AgentClock, Reading
from cuesta.engine.meetings import Meetings
from cuesta.engine.ports import Agent
from cuesta.engine.silence import STALLED, STARTING, Silence
from cuesta.errors import CuestaError
from cuesta.private_files import RecordFile, record_file
from cuesta.records.messages import (
    AgentMessage,
    AgentOrder,
    AgentReady,
    AgentStart,
    Announcement,
    BarrierRelease,
    BarrierStatus,
    ClockReading,
    EngineMessage,
    RunSpec,
    Snapshot,
    TapeText,
    UserScreen,
)
from cuesta.records.reading import from_json, to_row
from cuesta.records.rows import AgentNote

LOOK_EVERY = 0.25
"""Seconds between looks at the agents."""
START_IN = 200_000_000
"""Nanoseconds from the start message to the start, so that every agent reads the message in time."""
AHEAD = 2_200_000_000
"""Nanoseconds from an announcement to its instant: the two seconds by which agents fix intervals ahead, and time to
read it."""
PATIENCE = 10.0
"""Seconds, beyond its own drain, within which a stopped agent must end; also for an answer with its clock."""
BRIEF_PATIENCE = 2.0
"""The same for one that has failed."""
INSTANTS = ("begin", "settled", "end", "at")
"""Entries of an announcement that are nanoseconds from the start of the segment."""


class FollowedAgent:
    """An agent and what it has said. A thread listens to it; `latest` is its newest snapshot.

    `record` is `agents.jsonl`: the agents' clocks, and how each ended.
    """

    def __init__(self, agent: Agent, meetings: Meetings, record: RecordFile) -> None:
        self.agent = agent
        self.latest: Snapshot | None = None
        self.screens: Sequence[UserScreen] = ()
        """What those of its users see who are looked at."""
        self.ready = threading.Event()
        """Set when the agent is ready, and also when it ended without becoming so."""
        self.ended: str | None = None
        """`completed` or `interrupted`; None if it failed or still runs."""
        self.failure: str | None = None
        self.removing = 0
        """Once it was stopped: sessions that have left something at hosts that it still removes."""
        self.gone = threading.Event()
        """Set when the agent has ended. After a Ctrl-C in `Thread.join` Python takes a living thread for ended."""
        self.clock = AgentClock()
        self.silence = Silence(is_remote=agent.node is not None)
        self._meetings = meetings
        self._record = record
        self._readings: queue.SimpleQueue[Reading | None] = queue.SimpleQueue()
        """Readings of its clock; then None when the agent has ended."""
        self._failing = threading.Lock()
        self._read_at = 0
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def name(self) -> str:
        """Its number, and its node's name."""
        return f"agent {self.agent.number}" + (f" on {self.agent.node}" if self.agent.node else "")

    @property
    def has_ended(self) -> bool:
        return self.gone.is_set()

    def instruct(self, spec: RunSpec, tapes: Mapping[str, TapeText], environment: Mapping[str, str]) -> None:
        """Send its order; `environment` has additional variables for programs on its own lines."""
        order = AgentOrder(
            spec=share_of(spec, self.agent.number),
            tapes=tapes,
            environment=environment,
            folder=self.agent.records,
            passphrases=passphrases.given(),
        )
        self._tell(EngineMessage(order=order))

    def wait_until_ready(self) -> None:
        """Also read its clock. Raises CuestaError if the agent fails."""
        if not self.ready.wait(STARTING / 1e9):
            self.give_up(f"was not ready within {STARTING / 1e9:.0f} s")
            self.agent.kill()
        if not (self.failure or self.clock.is_the_engines):
            self.clock.held = min(self._read_clock(), key=lambda reading: reading.error, default=self.clock.held)
        if self.failure:
            raise CuestaError(f"{self.name} cannot start: {self.failure}")

    def start(self, at: int, wall: int) -> None:
        """Let its users start at an instant, which is `wall` ns since 1970."""
        self._note_reading(self.clock.held, start_at=at, node=self.agent.node)
        self.silence.begin(_native.now())
        self._tell(EngineMessage(start=AgentStart(start_at=self.clock.start(at), started_wall=wall)))

    def announce(self, announcement: Announcement, start_at: int) -> None:
        """Tell a change of the schedule. Its times are nanoseconds from the start of the segment."""
        ((what, change),) = to_row(announcement).items()
        instants = {name: self.clock.since_start(start_at, change[name]) for name in INSTANTS if name in change}
        self.agent.tell({"announce": {what: {**change, **instants}}})

    def release(self, release: BarrierRelease) -> None:
        """Let the users at a barrier go on."""
        self._tell(EngineMessage(release=replace(release, go_on=self.clock.instant(release.go_on))))

    def obey(self, order: EngineMessage) -> None:
        """Have it do what those who watch ask for."""
        self._tell(order)

    def keep_time(self) -> None:
        """Read its clock again now and then, if it is not the engine's."""
        self._take_readings()
        if not self.clock.is_the_engines and (now := _native.now()) >= self._read_at + READ_EVERY:
            self._read_at = now
            self._ask_clock()

    def note_last_reading(self) -> None:
        """Record the best of the last readings of its clock, once it has ended."""
        self._take_readings()
        if best := self.clock.take_best():
            self._note_reading(best)

    def watch(self, now: int) -> None:
        """See how long it has said nothing: note it once it speaks again, give it up if that is too long."""
        is_driving = self.latest is not None and self.ended is None
        if ended := self.silence.look(now, is_driving=is_driving):
            self._note(silent=ended)
        if why := self.silence.why_lost():
            self.give_up(why)
            self.agent.kill()

    def give_up(self, how: str) -> None:
        """Record how it failed, once: nothing is expected of it any more."""
        with self._failing:
            if self.failure is None:
                self.failure = f"it {how}"
                self._note(died=how)

    def wait_until_ended(self) -> None:
        """Wait for the end of a stopped agent. Kill it if that takes too long, unless it gets on with removing."""
        left = 0
        while not self.gone.wait(PATIENCE if self.failure is None else BRIEF_PATIENCE):
            if self.failure or self.removing in {0, left}:
                self.agent.kill()
                self.gone.wait()
            left = self.removing

    def _take_readings(self) -> None:
        while not self._readings.empty():
            if (reading := self._readings.get()) and (best := self.clock.take(reading)):
                self._note_reading(best)

    def _tell(self, message: EngineMessage) -> None:
        self.agent.tell(to_row(message))

    def _note(self, **entries: Any) -> None:
        self._record.write(to_row(AgentNote(at=_native.now(), agent=self.agent.number, **entries)))

    def _note_reading(self, reading: Reading, start_at: int | None = None, node: str | None = None) -> None:
        self._note(clock=self.clock.name, offset=reading.offset, error=reading.error, start_at=start_at, node=node)

    def _ask_clock(self) -> None:
        self._tell(EngineMessage(read_clock=_native.now()))

    def _read_clock(self) -> Iterator[Reading]:
        """Read its clock ROUNDS times. Raises CuestaError if it does not answer."""
        for _ in range(ROUNDS):
            self._ask_clock()
            try:
                reading = self._readings.get(timeout=PATIENCE)
            except queue.Empty:
                raise CuestaError(f"{self.name} does not answer") from None
            if reading is None:
                return
            yield reading

    def _listen(self) -> None:
        try:
            for row in self.agent.listen():
                self._hear(from_json(AgentMessage, row), _native.now())
            self.silence.end()  # it takes a while to learn why a connection was lost
            if self.ended is None:
                self.give_up(self.agent.how_it_ended())
        except Exception as error:  # whatever a broken node sends
            self.give_up(f"said what no agent says: {type(error).__name__}: {error}")
            self.agent.kill()
        finally:
            self.silence.end()
            self.ready.set()
            self._readings.put(None)
            self.gone.set()

    def _hear(self, message: AgentMessage, received: int) -> None:
        if message.clock is None:  # whoever answers for its clock need not be the agent
            self.silence.hear(received)
        match message:
            case AgentMessage(ready=AgentReady() as ready):
                self.clock = AgentClock(ready.clock)
                self.ready.set()
            case AgentMessage(snapshot=Snapshot() as snapshot):
                self.latest = snapshot
            case AgentMessage(screens=tuple() as screens):
                self.screens = screens
            case AgentMessage(standing=BarrierStatus() as status):
                on_our_clock = replace(status, go_on=self.clock.engine_instant(status.go_on))
                self._meetings.hear(self.agent.number, on_our_clock)
            case AgentMessage(clock=ClockReading() as reading):
                self._readings.put(Reading.from_round_trip(reading.asked, reading.at, received))
            case AgentMessage(removing=int(left)):
                self.removing = left
            case AgentMessage(ended=str(how)):
                self.ended = how
            case AgentMessage(failed=str(why)):
                self.failure = why


@contextmanager
def listen_to_agents(agents: Sequence[Agent], folder: Path) -> Iterator[list[FollowedAgent]]:
    """Listen to the agents during the block; then stop them, also after an exception, and fetch their records."""
    followed: list[FollowedAgent] = []
    with record_file(folder / "agents.jsonl", "w") as record:

        def release_all(release: BarrierRelease) -> None:
            for each in followed:
                each.release(release)

        meetings = Meetings(release_all)
        followed += [FollowedAgent(agent, meetings, record) for agent in agents]
        try:
            yield followed
        finally:
            for agent in agents:
                agent.stop()
            for each in followed:
                each.wait_until_ended()
                each.note_last_reading()
            fetch_records(followed, folder)


def fetch_records(followed: Sequence[FollowedAgent], folder: Path) -> None:
    for each in followed:
        each.agent.fetch(folder / f"agent-{each.agent.number}")


def share_of(spec: RunSpec, number: int) -> RunSpec:
    """The specification for one agent: `spec` with the agent's number and its share of the CPUs."""
    cpus, threads = spec.cpus, spec.threads
    own = cpus and [cpus[(number * threads + thread) % len(cpus)] for thread in range(threads)]
    return replace(spec, agent=number, cpus=own)


def start_together(followed: Sequence[FollowedAgent]) -> int:
    """Wait until all are ready; start them at one instant, which is returned. Raises CuestaError if one fails."""
    for agent in followed:
        agent.wait_until_ready()
    start_at, wall = _native.now() + START_IN, time.time_ns() + START_IN
    for agent in followed:
        agent.start(start_at, wall)
    return start_at


def never() -> bool:
    return False


def follow(
    followed: Sequence[FollowedAgent],
    look: Callable[[], None],
    stopping: threading.Event,
    until: Callable[[], bool] = never,
) -> None:
    """Look at intervals until all agents end or `until` is true; stop the agents when `stopping` is set."""
    are_stopped, looked_at = False, _native.now()
    while not (all(each.has_ended for each in followed) or until()):
        for each in followed:
            each.gone.wait(LOOK_EVERY / len(followed))
            each.keep_time()
        before, looked_at = looked_at, _native.now()
        for each in followed:
            if looked_at - before >= STALLED:
                each.silence.hear(looked_at)  # the engine itself did not listen
            each.watch(looked_at)
        look()
        if stopping.is_set() and not are_stopped:
            are_stopped = True
            for each in followed:
                each.agent.stop()
