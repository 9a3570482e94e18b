"""Runs a search: one run to which the caller adds a step after each trial, while the users stay connected.

A trial: some users start or leave one after another; their load settles; it is measured. Its records are those of a
step of a sweep. Each change is announced to all agents AHEAD of its instant (docs/folder.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cuesta import _native
from cuesta.engine.agents import AHEAD, fetch_records
from cuesta.engine.console import Console
from cuesta.engine.engines import LOCAL
from cuesta.engine.folder import write_run
from cuesta.engine.job import DRAIN, SECOND, Job
from cuesta.engine.ports import Engine
from cuesta.engine.run_job import Driven, RunResult, drive_segment
from cuesta.engine.search_folder import (
    begin_segment,
    describe_search,
    note_backlog,
    note_end,
    record_trial,
    search_folder,
)
from cuesta.engine.settling import Settling
from cuesta.engine.spec import AddedSteps
from cuesta.plan import Settings, Step
from cuesta.plan.driver import driver_loads
from cuesta.records.messages import Announcement, LoadEnd, Measurement, NextStep, Snapshot

PATIENCE = 30.0
"""Seconds after a measurement interval in which the agents must report it, and the meters too."""
LONGEST = 12
"""A load that has not settled is measured after this many settling times."""
RECOVERY = 300
"""Seconds that a host which answered nothing may take to answer again."""
JOINING = 45
"""Seconds after which a user who was turned away has tried again (`back_off` in the driver)."""
LEAST_WINDOW = 3
"""Least seconds in each of the two parts by which a load is seen to have settled."""
ENDING = (AHEAD + DRAIN) / SECOND
"""Seconds that a search takes to end after its last trial."""
MILLISECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class NextTrial:
    """What the caller wants to be tried next."""

    step: Step
    note: Mapping[str, object]
    """Recorded beside the step: what the trial is for, and why."""
    end_by: int | None = None
    """The instant (`_native.now`) by which it must have been measured, even if its load has not settled."""
    is_recovery: bool = False
    """Whether the host answered nothing in the trial before, and is waited for."""
    drains: bool = False
    """Whether what an open load left undone in the trial before is worked off first."""


Choose = Callable[[Path], NextTrial | None]
"""Returns the next trial, given the folder with all trials so far; None ends the search."""


@dataclass(frozen=True, slots=True)
class SearchJob:
    """What to search with."""

    job: Job
    """Its plan has one step, the first load."""
    most: Step
    """The largest load that may be tried."""
    method: Mapping[str, object]
    """The settings of the search, recorded in `run.json`."""


def search(search_job: SearchJob, out: Path, choose: Choose, console: Console, engine: Engine = LOCAL) -> RunResult:
    """Make trials until `choose` or `console.stop` ends the search; a folder `out` with a search in it is resumed."""
    engine.check(search_job.job.with_step(search_job.most))
    failures, notes = list[str](), list[str]()
    with search_folder(out) as folder, engine.reserve(search_job.job) as nodes:
        if not (folder / "run.json").exists():
            write_run(folder, search_job.job, datetime.now(UTC), nodes)
            describe_search(folder, search_job.method)
        if following := choose(folder):
            note_end(folder, None)
            segment = begin_segment(folder, following.step)
            job = search_job.job.with_step(following.step)
            most = [group.users for group in search_job.most.settings.group]
            with drive_segment(job, segment, folder / segment.folder, nodes, console, AddedSteps(most)) as driven:
                trials = Trials(folder, folder / segment.folder, driven)
                trials.make(following, choose)
                notes = driven.notes()
            failures = [trials.failure] if trials.failure else driven.failures()
    return RunResult(folder, console.stop.is_set(), failures, notes)


def seconds_of_trial(settings: Settings, users: float) -> float:
    """How long a trial takes that adds or removes a number of users, if its load settles at once."""
    stagger = max(group.stagger for group in settings.group)
    settling = max((settings.settle - AHEAD) / SECOND, 2 * window(settings.settle))
    return (AHEAD + users * stagger + AHEAD + settings.measure) / SECOND + settling


def window(settle: int) -> int:
    """Seconds in each of the two parts by which a load is seen to have settled; `settle` is the plan's."""
    return max(round(settle / SECOND / 2), LEAST_WINDOW)


def last_start(started: int, settings: Settings, end_by: int | None) -> int:
    """The latest instant at which measuring begins; a load may not have settled by then."""
    latest = started + LONGEST * max(settings.settle, SECOND)
    return latest if end_by is None else min(latest, end_by - settings.measure - AHEAD)


def least_users(settings: Settings) -> float:
    """The fewest users with a line that `lost_users` allows; 0 where users come and go."""
    if any(group.load.arrivals == "sessions" for group in settings.group):
        return 0.0
    return (1 - settings.validity.lost_users) * sum(group.users for group in settings.group)


@dataclass(slots=True)
class Trials:
    """The trials of one segment, whose agents stay connected. Instants are nanoseconds from their start."""

    folder: Path
    segment: Path
    """Its folder."""
    driven: Driven
    number: int = 0
    """The number of the next trial in the segment."""
    users: Sequence[int] = ()
    """How many users each group has before the next trial."""
    failure: str = ""
    """Why the agents can make no more trials although they have not ended; empty if they can."""

    def make(self, first: NextTrial, choose: Choose) -> None:
        """Make trials until the caller ends the search, or an agent has ended or stopped recording."""
        trial: NextTrial | None = first
        while trial and self._try(trial):
            fetch_records(self.driven.agents, self.segment)
            trial = choose(self.folder)
        self.driven.deployment.expect_no_more()
        if self.driven.deployment.why_lost():
            self.driven.give_up()
            return
        if self.failure:
            return  # agents that do not record would not follow an announcement either
        end = self._next_instant()
        self.driven.announce(Announcement(end=LoadEnd(at=end)))
        latest = end + DRAIN + PATIENCE * SECOND
        self.driven.follow(lambda: self._now() > latest)

    def _try(self, trial: NextTrial) -> bool:
        """Make a trial; False if an agent has ended meanwhile, or has not recorded it."""
        record_trial(self.folder, trial.step, trial.note)
        settings = trial.step.settings
        started = self._begin(settings)
        end_by = None if trial.end_by is None else trial.end_by - self.driven.start_at
        if not self._settle(started, settings, end_by, trial):
            return False
        settled = max(self._next_instant(), started)
        end = settled + settings.measure
        self.driven.announce(Announcement(measure=Measurement(settled=settled, end=end)))
        self.driven.expect(self.number, settled, end)
        reported = self._follow(lambda: self._is_reported(end))
        self.number += 1
        return reported and not self.failure

    def _begin(self, settings: Settings) -> int:
        """Announce the load; returns when users that it adds have started. Others leave at the end of their pass."""
        groups = settings.group
        begin = self._next_instant() if self.number else 0
        if self.number:
            self.driven.announce(Announcement(step=NextStep(begin=begin, groups=driver_loads(settings))))
        before = self.users or [0] * len(groups)
        self.users = [group.users for group in groups]
        ramps = [abs(group.users - users) * group.stagger for group, users in zip(groups, before, strict=True)]
        return begin + max(ramps)

    def _settle(self, started: int, settings: Settings, end_by: int | None, trial: NextTrial) -> bool:
        """Wait until the load has settled, and at least for the settling time; False if an agent has ended.

        A host that has to recover is waited for until it answers, and a backlog until it is worked off: settling begins
        then.
        """
        join_by = started / SECOND + JOINING
        settling = Settling(window(settings.settle), sum(self.users), least_users(settings), join_by)
        since, is_draining = started, trial.drains

        def has_settled() -> bool:
            nonlocal since, is_draining
            settling.add_second(self._snapshots())
            now = self._now()
            is_draining = is_draining and not settling.has_drained(started / SECOND)
            if is_draining or (trial.is_recovery and settling.is_unanswered()):
                since = max(since, now)
                return now >= min(started + RECOVERY * SECOND, last_start(now, settings, end_by))
            if now >= last_start(since, settings, end_by):
                return True
            return now >= since + settings.settle - AHEAD and settling.has_settled(since / SECOND)

        goes_on = self._follow(has_settled)
        if trial.drains:
            seen = 2 * window(settings.settle)  # what it takes to see that nothing is left
            note_backlog(self.folder, max((since - started) / SECOND - seen, 0.0), is_drained=not is_draining)
        return goes_on

    def _is_reported(self, end: int) -> bool:
        """Whether all agents have recorded a measurement interval, and the meters too; it is not waited for ever."""
        snapshots = self._snapshots()
        recorded = all(each.seconds * SECOND >= end - MILLISECOND for each in snapshots)
        is_late = self._now() > end + PATIENCE * SECOND
        if is_late and not recorded:
            self.failure = "the driver has stopped recording: see whether its machine has CPU, memory and disk left"
        return is_late or (recorded and self.driven.deployment.has_reported(self.number))

    def _follow(self, until: Callable[[], bool]) -> bool:
        """Wait; False if an agent has ended: what the others measure after that is no trial."""
        self.driven.follow(lambda: self._has_lost_agent() or until())
        return not self._has_lost_agent()

    def _has_lost_agent(self) -> bool:
        return bool(self.driven.deployment.why_lost()) or any(agent.has_ended for agent in self.driven.agents)

    def _snapshots(self) -> list[Snapshot]:
        return [agent.latest for agent in self.driven.agents if agent.latest]

    def _now(self) -> int:
        return _native.now() - self.driven.start_at

    def _next_instant(self) -> int:
        """The first instant for which a change can be announced now."""
        return self._now() + AHEAD
