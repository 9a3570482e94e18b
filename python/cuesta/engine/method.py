"""The method of a certification: which runs it makes, what each is for, and how long all of them take.

The timed runs give all times and where CPU time goes: they are sampled and, where the kernel can be traced, run with
the light tracer. What would slow them down is measured in extra runs: one in which the full tracer counts system calls,
one in which the programs' linkers report what they bind, and a control run without meters, which gives their cost
(docs/meters.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cuesta.engine import meter_source
from cuesta.engine.job import DRAIN, SECOND, Job, timeline
from cuesta.line_kinds import OWN_PROGRAMS
from cuesta.plan import Step
from cuesta.target import kind_of
from cuesta.units import many, minutes

METERED_EVERY = 0.25
"""Seconds between the meters' readings: the resolution of the bounds of phases."""
WARM_UP = 1
"""Runs before those that count."""
TRACED, LINKAGE, CONTROL = "traced", "linkage", "control"
"""Folders of the runs that are made for one figure each (docs/certify.md)."""
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
    apart: Mapping[str, Job]
    """Runs that are made for one figure each, by what they are for."""
    untraced: str | None
    """Why the kernel is not traced; none if it is."""
    absentee: bool = False
    """It is a benchmark of processes that have all their commands from the start."""

    def runs(self, wanted: int) -> dict[str, int]:
        """Number of runs of each kind, in their order, if every one counts."""
        return {"warm_up": WARM_UP, "timed": wanted, **dict.fromkeys(self.apart, 1)}

    def seconds(self, wanted: int) -> float:
        """Their length, if every one counts."""
        (segment,) = self.timed.plan.segments()
        return sum(self.runs(wanted).values()) * (timeline(segment)[-1].end + DRAIN) / SECOND

    def said(self, wanted: int) -> list[str]:
        """What will be run, and what cannot be."""
        runs = ", ".join(f"{many(number, 'run')} {PURPOSE[what]}" for what, number in self.runs(wanted).items())
        rows = [f"{runs}: about {minutes(self.seconds(wanted))}"]
        if self.untraced:
            rows.append(f"not traced: {self.untraced}; the form will lack what only tracing tells")
        return rows


def method(job: Job, absentee: bool = False) -> Method:
    """Choose how a certification of the job is made on this machine."""
    meters = job.plan.settings.meters
    untraced = why_untraced(meters)
    timed = job if untraced else with_meters(job, traced_by("exact", meters))
    apart = {} if untraced else {TRACED: with_meters(job, traced_by("calls", meters))}
    unmetered = replace(with_meters(job, "none"), metered_every=None)
    if all(kind_of(group.target) in OWN_PROGRAMS for group in job.plan.settings.group):
        apart[LINKAGE] = unmetered
    return Method(timed, {**apart, CONTROL: unmetered}, untraced, absentee)


def why_untraced(meters: str) -> str | None:
    """Why the kernel is not traced; None if it is."""
    if meters in ("none", "plain"):
        return f'the plan says meters = "{meters}"'
    if meters.startswith(ELSEWHERE):
        return f"the host is metered elsewhere ({meters}), and only this machine is traced"
    return meter_source.why_untraced(traced_by("exact", meters))


def subject(meters: str) -> str:
    """WHERE without its tier."""
    tier, _, subject = meters.partition(":")
    return (subject or "auto") if tier in meter_source.TRACED else meters


def traced_by(tier: str, meters: str) -> str:
    """WHERE with another tier."""
    return tier if subject(meters) == "auto" else f"{tier}:{subject(meters)}"


def with_meters(job: Job, meters: str) -> Job:
    """The same job, metered otherwise."""
    settings = job.plan.settings.model_copy(update={"meters": meters})
    return replace(job, plan=replace(job.plan, settings=settings, steps=(Step({}, settings),)))
