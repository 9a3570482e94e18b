"""Decides what limits the host, from the meters and the response together (docs/capacity.md).

A resource is named only if it is busy about all the time *and* the response agrees. Where they disagree, the finding is
a conflict. What one population cannot show is not claimed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuesta.analysis.capacity.asymptotes import asymptotes
from cuesta.analysis.capacity.findings import (
    NOTICEABLE,
    Conflicting,
    Finding,
    GaveOut,
    OfTheDriver,
    OnTheLine,
    Saturated,
    Undecided,
    Unlimited,
    state,
)
from cuesta.analysis.capacity.load_points import LoadPoint, by_load
from cuesta.analysis.capacity.measured import MeasuredStep, Work
from cuesta.analysis.capacity.resources import Kind, Resource, resources
from cuesta.analysis.capacity.resources.terminal_lines import terminal_line
from cuesta.analysis.capacity.response_parts import ResponseParts, response_parts
from cuesta.analysis.capacity.searches import of_search
from cuesta.analysis.capacity.unmetered import suspects
from cuesta.analysis.doubts import Doubt, of_the_driver
from cuesta.analysis.own_part import why_void
from cuesta.analysis.unsteady import why_unsteady
from cuesta.units import seconds, share

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary

ABOUT_ALL = 0.9
"""Utilization from which on a resource counts as busy about all the time."""
MOST_OF_IT = 0.75
"""Share of a response from which on its characters on the line are what limits it."""
LONGER = 3.0
"""A response agrees with a utilization if it is at most this many times as long as a random queue makes it: work in
bursts makes longer queues."""
SLACK = 0.02
"""Error of a utilization near 1."""
GROWN = 1.5
"""How many times as long a response must be as with at most half of the users, to show waiting."""
UNEXPLAINED = 0.3
"""Share of the host's part of a response from which on it matters that nothing explains it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A step with all that its finding rests on."""

    measured: MeasuredStep
    at: str
    """The load in words."""
    work: Work
    resources: Sequence[Resource]
    parts: ResponseParts

    @property
    def users(self) -> int:
        return self.measured.step.users

    @property
    def one(self) -> str:
        """What users wait for, with its article."""
        return "a response" if self.work.unit == "transaction" else "an echo"

    @property
    def most(self) -> Resource | None:
        """Of the resources that users share, the one of which the host itself is known to use the largest share."""
        known = [each for each in self.resources if each.is_believed and each.own is not None]
        shared = [each for each in known if each.kind != Kind.LINES]
        return max(shared, key=lambda each: each.used, default=None)


def bottleneck(summary: "Summary") -> Finding:
    """Find what limits the host: in a sweep at the largest load, in a search near the limit that it found."""
    *others, heaviest = by_load(summary)
    search = summary.search
    # What is in doubt about a trial that counts is what the host did.
    about = {None} if search else {None, heaviest.step.step}
    doubts = [each.doubt for each in summary.doubts if each.step in about]
    if doubted := of_doubts(doubts, heaviest.said):
        return doubted
    last = evidence_at(summary, heaviest)
    if search and (said := of_search(summary, search)):
        return replace(said, busy=max(full(last), key=rank, default=None)) if isinstance(said, GaveOut) else said
    if last is None:
        return Undecided("nothing was measured", "")
    doubtful = {each.step for each in summary.doubts}
    lighter = [each for each in others if each.step.step not in doubtful and 2 * each.amount <= heaviest.amount]
    finding = decide(last, first := evidence_at(summary, lighter[0]) if lighter else None)
    if (own := why_void(heaviest.step)) and isinstance(finding, Undecided | Unlimited):
        return OfTheDriver(own, heaviest.said, "use fewer users, more --threads or --agents, or a quieter machine")
    if heaviest.step.settled.overload and isinstance(finding, Undecided | Unlimited):
        return Undecided(
            f"{why_unsteady(heaviest.step)}, and no meter shows what it waits for", "name it with --meters"
        )
    return (
        replace(finding, saturates=asymptotes(summary).crossing)
        if isinstance(finding, Unlimited) and first
        else finding
    )


def evidence_at(summary: "Summary", point: LoadPoint) -> Evidence | None:
    """Derive what a finding rests on; None for a step in which nothing was done."""
    of = MeasuredStep(summary.recorded, point.step)
    work, known = of.work, resources(of)
    return Evidence(of, point.said, work, known, response_parts(of, known)) if work else None


def of_doubts(doubts: Sequence[Doubt], at: str) -> Finding | None:
    """What an INVALID step says: that the driver was the limit, or nothing."""
    if late := of_the_driver(doubts):
        return OfTheDriver(str(late[0]), at, late[0].advice)
    others = [doubt for doubt in doubts if doubt.trial != "overloaded"]
    return Undecided(f"the run is INVALID: {others[0]}", others[0].advice) if others else None


def decide(last: Evidence, first: Evidence | None) -> Finding:
    """Decide by a step, and by one of at most half as many users if there is one."""
    busy, line = full(last), of_line(last)
    idle_for_users = [each for each in busy if is_of_others(each) and (line or not waits(last, first, each))]
    if saturated := [each for each in busy if each not in idle_for_users]:
        return of_saturated(last, max(saturated, key=rank))
    if finding := line or (of_growth(last, first) if first else None):
        return finding
    beside = max(idle_for_users, key=rank, default=None)
    if beside and beside.own is None:
        return of_others(last, beside)
    return (None if first else of_unexplained(last)) or unlimited(last, beside)


def full(last: Evidence | None) -> list[Resource]:
    """The resources that are busy about all the time; a user's own line is none of them."""
    known = last.resources if last else []
    return [each for each in known if each.is_believed and each.busy >= ABOUT_ALL and each.kind != Kind.LINES]


def is_of_others(resource: Resource) -> bool:
    """Whether less than half of its work is known to be the host's own."""
    return (resource.own or 0.0) < resource.busy / 2


def of_others(last: Evidence, of: Resource) -> Finding:
    """A resource that is busy for the host or for others, with no sign that a user waits for it."""
    busy = f"{of.name} is {share(of.busy)} busy at {last.at}, by the host or by others"
    takes = f"{last.one} takes {seconds(last.parts.response)}"
    return Conflicting(f"{busy}, but {takes} and no wait for it is seen", ["who uses it"])


def rank(resource: Resource) -> tuple[bool, float]:
    """Prefer resources whose work is known to be the host's own."""
    return resource.own is not None and resource.own >= ABOUT_ALL / 2, resource.busy


def of_saturated(last: Evidence, of: Resource) -> Finding:
    """Whether the response agrees that a busy resource is the limit."""
    host, at = last.parts.of_host, last.at
    busy = f"{of.name} is {share(of.busy)} {state(of)} at {at}"
    takes = f"{last.one} takes {seconds(last.parts.response)}"
    if of.kind != Kind.BUFFERS and of.demand is None:
        why = last.measured.step.host.per_transaction_missing or "how much of that is the host's own work is not known"
        return Conflicting(f"{busy}, and {why}", ["the host alone (--meters pid:N or cgroup:PATH)"])
    own, demand = of.own if of.own is not None else 0.0, of.demand or 0.0
    if of.own is not None and own >= of.busy / 2 and demand > 1.1 * host * of.servers:
        what = f"{busy}, but a {last.work.unit} costs {seconds(demand)} of it and {takes}: most of that work is no part"
        return Conflicting(f"{what} of {last.one}", ["what else it does (cuesta meters profile)"])
    longest = max(LONGER * demand / max(1 - of.busy - SLACK, 1e-9), demand + of.waiting())
    if of.kind != Kind.BUFFERS and host > max(longest, NOTICEABLE):
        what = f"{busy}, but {takes}, longer than a queue for it: {seconds(longest)} at most"
        return Conflicting(what, suspects(last.measured))
    return Saturated(of, last.at, last.work.unit, last.parts.response)


def waits(last: Evidence, first: Evidence | None, of: Resource) -> bool:
    """Whether users wait for a resource: by a meter of it; without one, because responses grew with the users."""
    if last.parts.of_host < NOTICEABLE:
        return False
    if of.waited is not None:
        return min(of.waited, last.parts.waiting_for(of)) >= UNEXPLAINED * last.parts.of_host
    return first is not None and last.parts.of_host >= GROWN * first.parts.of_host


def of_line(last: Evidence) -> Finding | None:
    """The line, if its characters take most of a response or fill it."""
    line, parts = terminal_line(last.measured), last.parts
    full = any(each.busy >= ABOUT_ALL for each in last.resources if each.kind == Kind.LINES)
    if line is None or not (full or parts.line >= MOST_OF_IT * parts.response):
        return None
    return OnTheLine(parts.line, parts.response, line.answer, line.is_exact, line.speed.baud)


def of_growth(last: Evidence, first: Evidence) -> Finding | None:
    """A conflict if the response grew with the users, and neither work nor queues that are metered explain it."""
    more = last.parts.unexplained - first.parts.unexplained
    if more < max(UNEXPLAINED * last.parts.of_host, NOTICEABLE):
        return None
    what = (
        f"{last.one} takes {seconds(first.parts.response)} with {first.at} and "
        f"{seconds(last.parts.response)} with {last.at}"
    )
    if last.most is None:
        return Undecided(f"{what}, and the host was not metered", "name it with --meters")
    of = last.most
    busy = f"nothing that is metered explains it (what the host uses most is {of.name}: {share(of.used)})"
    return Conflicting(f"{what}, and {busy}", suspects(last.measured))


def of_unexplained(last: Evidence) -> Finding | None:
    """What one population leaves open: a long response that no meter explains may be waiting or the host's own pace."""
    parts = last.parts
    if last.users == 1 or parts.unexplained < max(UNEXPLAINED * parts.of_host, NOTICEABLE):
        return None
    what = f"of {last.one} of {seconds(parts.response)}, no meter explains {seconds(parts.unexplained)}"
    busy = f" (it uses {share(last.most.used)} of {last.most.name})" if last.most else ""
    users = f"--users 1,{last.users}"
    return Undecided(f"{what}{busy}", f"measure fewer users too ({users}): if it is shorter then, users wait there")


def unlimited(last: Evidence, beside: Resource | None) -> Finding:
    if last.most is None and last.users > 1:
        takes = f"{last.one} takes {seconds(last.parts.response)}"
        return Undecided(f"the host was not metered, and {takes}", "name it with --meters, or measure fewer users too")
    of, response = last.most, last.parts.response
    waiting = last.parts.waiting_for(of) if of else 0.0
    own_pace, held = last.measured.own_pace, min(last.measured.held, response)
    return Unlimited(of, last.at, response, waiting, own_pace, last.one, beside=beside, held=held)
