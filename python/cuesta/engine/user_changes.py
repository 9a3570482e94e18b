"""Adds and takes users while a run goes on: its last step is cut, and another one follows.

The first users of a run type what they would have typed. A step that is added starts or removes users one after
another (`stagger`), settles as long as the plan's, and is measured until the run was to end, at least LEAST_MEASURED.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cuesta import _native
from cuesta.engine.agents import AHEAD
from cuesta.engine.console import Console, UserRequest
from cuesta.engine.folder import change_run, describe_step, read_run
from cuesta.engine.job import SECOND, Job, PlannedTimes, count_looped_lines, timeline
from cuesta.engine.sharing import most_users_of, share_groups
from cuesta.plan import Settings
from cuesta.plan.driver import driver_loads
from cuesta.plan.sweep import at_load
from cuesta.records.messages import Announcement, Cut
from cuesta.units import many

GRID = SECOND // 10
"""Steps are cut at a multiple of this from the start."""
LEAST_MEASURED = 10 * SECOND
"""Nanoseconds that an added step is measured at least, unless the plan measures less."""


def why_fixed(job: Job, console: Console) -> str:
    """Why the number of users stays as planned; empty if it can be changed."""
    settings, steps = job.plan.steps[0].settings, job.plan.steps
    group = settings.group[0]
    reasons = {
        "this run stands for its plan, as in a comparison": not console.may_change_users,
        f"the plan has {many(len(steps), 'step')} of its own": len(steps) > 1,
        f"the plan has {many(len(settings.group), 'group')}, and users of one can be changed": len(settings.group) > 1,
        f"the load `{group.load}` is a rate": group.load.kind == "open",
        "a command runs beside the step": settings.beside is not None,
        "the host joins lines in pairs": bool(count_looped_lines(job, steps[0])),
        "its users meet at a barrier": any(word == "Barrier" for word, _ in job.tape(group).content.outline()),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


class Driven(Protocol):
    """A segment that is driven (`run_job`). Times are nanoseconds from its start."""

    @property
    def start_at(self) -> int:
        """The start, on the engine's clock."""

    def expect(self, number: int, settled: int, end: int) -> None:
        """Expect a step."""

    def cut(self, number: int, at: int) -> None:
        """Have an expected step end at an instant."""

    def announce(self, announcement: Announcement, /) -> None:
        """Tell all agents a change of the schedule."""


@dataclass(slots=True)
class UserChanges:
    """The steps of a run whose users may be changed."""

    job: Job
    folder: Path
    """The run folder."""
    driven: Driven
    settings: Settings = field(init=False)
    """Those of the last step."""
    times: list[PlannedTimes] = field(init=False)
    """Of each step; ns from the start."""

    def __post_init__(self) -> None:
        (segment,) = self.job.plan.segments()
        self.settings, self.times = self.job.plan.steps[0].settings, timeline(segment)

    def change(self, asked: UserRequest) -> str:
        """Add or take users as somebody asked for; returns what comes of it, a sentence."""
        now = _native.now() - self.driven.start_at
        cut = -(-(now + AHEAD) // GRID) * GRID
        before = self.settings.group[0].users
        if why := self._why_not(now, cut, before + asked.by):
            return f"the number of users stays {before}: {why}"
        request = f"users {asked.by:+} at {write_instant(asked.at - self.driven.start_at)}"
        added = self._cut(cut, before + asked.by, request)
        measured = f"measured from {write_instant(added.settled)} to {write_instant(added.end)}"
        return f"{request}: {many(before + asked.by, 'user')} from {write_instant(cut)} on, {measured}"

    def _why_not(self, now: int, cut: int, users: int) -> str:
        """Why the users cannot be changed at an instant `cut`; empty if they can."""
        last, agents = self.times[-1], share_groups(self.settings).agents
        started = last.settled - self.job.plan.settings.settle
        if now < last.begin:
            return f"it changes at {write_instant(last.begin)} already; ask again then"
        if cut < started:
            return f"users start and leave one after another until {write_instant(started)}; ask again then"
        if cut >= last.end:
            return f"the run ends at {write_instant(last.end)}"
        if users < agents:
            return f"{many(agents, 'user')} must stay" + (", one for each agent" if agents > 1 else "")
        most = most_users_of(self.job.plan.settings.group[0].users)
        return f"this run has room for {many(most, 'user')}; begin another with more (--users)" if users > most else ""

    def _cut(self, cut: int, users: int, request: str) -> PlannedTimes:
        """Have the last step end at an instant, and another one begin; returns its times."""
        before, last, planned = self.settings.group[0], self.times[-1], self.job.plan.settings
        settled = cut + abs(users - before.users) * before.stagger + planned.settle
        added = PlannedTimes(cut, settled, max(last.end, settled + min(LEAST_MEASURED, planned.measure)))
        self.settings = at_load(self.settings, users).settings
        number = len(self.times) - 1
        self.times[-1:] = [PlannedTimes(last.begin, min(last.settled, cut), cut), added]
        self._record(request)
        self.driven.cut(number, cut)
        self.driven.expect(number + 1, added.settled, added.end)
        groups = driver_loads(self.settings)
        self.driven.announce(Announcement(cut=Cut(at=cut, groups=groups, settled=added.settled, end=added.end)))
        return added

    def _record(self, request: str) -> None:
        """Write in `run.json` that the last step but one was cut, and add the last one."""
        run, (cut, added) = read_run(self.folder), self.times[-2:]
        *others, last = run["steps"]
        step = describe_step(at_load(self.settings, self.settings.group[0].users))
        steps = [*others, {**last, **_measured(cut)}, {**step, **_measured(added), "asked": request}]
        (segment,) = run["segments"]
        segments = [{**segment, "steps": list(range(len(steps)))}]
        change_run(self.folder, {"steps": steps, "segments": segments})


def _measured(times: PlannedTimes) -> Mapping[str, Any]:
    return {"measure": _native.show_duration(times.end - times.settled)}


def write_instant(nanoseconds: int) -> str:
    return f"{nanoseconds / SECOND:.1f} s"
