"""The method of a certification: which runs it makes, what each is for, and how long all of them take.

The timed runs give all times and the causes of CPU time: they are sampled and, if the kernel can be traced, run with
the light tracer. Extra runs measure what would slow the timed ones down: in one the full tracer counts system calls, in
one the programs' linkers report what they bind, and a control run without meters shows what metering costs
(docs/meters.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cuesta.engine.engines import LOCAL
from cuesta.engine.job import Job, seconds_of_run
from cuesta.errors import InputError
from cuesta.line_kinds import OWN_PROGRAMS
from cuesta.plan import Step
from cuesta.plan.meter_places import list_hosts, tier_and_subject
from cuesta.target import kind_of, without_passwords
from cuesta.units import many, minutes

METERED_EVERY = 0.25
"""Seconds between the meters' readings: the resolution of the bounds of phases."""
WARM_UP = 1
"""Runs before the timed ones."""
TRACED, LINKAGE, CONTROL = "traced", "linkage", "control"
"""Folders of the extra runs (docs/certify.md)."""
ELSEWHERE = ("ssh:", "http:", "https:")
PURPOSE = {
    "warm_up": "to warm up",
    "timed": "timed",
    TRACED: "traced, to count system calls",
    LINKAGE: "to count what linkers bind",
    CONTROL: "without meters, as the control",
}


@dataclass(frozen=True, slots=True)
class Method:
    """The runs of one certification."""

    timed: Job
    extra: Mapping[str, Job]
    """The extra runs, by folder."""
    untraced: str | None
    """Why the kernel is not traced; None if it is."""
    absentee: bool = False
    """Whether it is a benchmark of absentees: processes that have all their commands from the start."""

    def runs(self, timed: int) -> dict[str, int]:
        """The number of runs of each kind in their order, if every run counts."""
        return {"warm_up": WARM_UP, "timed": timed, **dict.fromkeys(self.extra, 1)}

    def seconds(self, timed: int) -> float:
        """The length of all runs, if every run counts."""
        return sum(self.runs(timed).values()) * seconds_of_run(self.timed)

    def rows(self, timed: int) -> list[str]:
        """For people: which runs will be made, and why the kernel is not traced."""
        runs = ", ".join(f"{many(number, 'run')} {PURPOSE[what]}" for what, number in self.runs(timed).items())
        rows = [f"{runs}: about {minutes(self.seconds(timed))}"]
        if self.untraced:
            rows.append(f"not traced: {self.untraced}; the form will lack the figures that need tracing")
        return rows


def choose_method(job: Job, absentee: bool = False) -> Method:
    """Choose the runs of a certification of the job on this machine. Raises InputError if it meters several hosts."""
    host, *others = list_hosts(job.plan.settings.meters)
    if others:
        what = f"meters: a certification is of one host, and this names {1 + len(others)}"
        raise InputError(what, f"name the one that is certified: --meters {without_passwords(host.where)}")
    meters = host.where
    untraced = why_untraced(meters)
    job = replace(job, readings=("kernel threads",))
    timed = job if untraced else with_meters(job, with_tier("exact", meters))
    timed = replace(timed, readings=(*job.readings, "runnable tasks")) if absentee else timed
    extra = {} if untraced else {TRACED: with_meters(job, with_tier("calls", meters))}
    unmetered = replace(with_meters(job, "none"), metered_every=None)
    if all(kind_of(group.target) in OWN_PROGRAMS for group in job.plan.settings.group):
        extra[LINKAGE] = replace(unmetered, readings=("linkage",))
    return Method(timed, {**extra, CONTROL: unmetered}, untraced, absentee)


def why_untraced(meters: str) -> str | None:
    """Why the kernel is not traced; None if it is."""
    if meters in ("none", "plain"):
        return f'the plan says meters = "{meters}"'
    if meters.startswith(ELSEWHERE):
        return f"the host is metered elsewhere ({meters}), and only this machine is traced"
    return LOCAL.why_untraced(with_tier("exact", meters))


def with_tier(tier: str, meters: str) -> str:
    """A value of --meters with another tier."""
    _, subject = tier_and_subject(meters)
    return tier if subject == "auto" else f"{tier}:{subject}"


def with_meters(job: Job, meters: str) -> Job:
    settings = job.plan.settings.model_copy(update={"meters": meters})
    return job.with_step(Step({}, settings))
