"""Decides what limits the host, from the meters and the response together (docs/capacity.md).

A resource is named only if it is saturated *and* the response agrees. Where they disagree, the finding is a conflict.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from cuesta.analysis.capacity.asymptotes import derive_asymptotes
from cuesta.analysis.capacity.evidence import (
    Evidence,
    gather_evidence,
    is_full,
    is_mostly_foreign,
    pick_limiting,
    shows_waiting,
)
from cuesta.analysis.capacity.findings import (
    NOTICEABLE,
    Conflicting,
    DriverLimited,
    Finding,
    Followed,
    GaveOut,
    OnTheLine,
    Saturated,
    Undecided,
    Unlimited,
    Waiting,
    busy_or_full,
    name_most_used,
)
from cuesta.analysis.capacity.measured_step import LoadPoint, order_by_load
from cuesta.analysis.capacity.resources import Kind, Resource
from cuesta.analysis.capacity.resources.terminal_lines import read_terminal_line
from cuesta.analysis.capacity.searches import judge_search
from cuesta.analysis.capacity.unmetered import list_suspects
from cuesta.analysis.doubts import select_driver_doubts
from cuesta.analysis.own_part import why_void
from cuesta.analysis.path.explain import explain_step
from cuesta.analysis.unsteady import why_unsteady
from cuesta.units import join_words, seconds, share

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary

MOST_OF_IT = 0.75
"""Share of a response from which on its characters on the line are what limits it."""
LONGER = 3.0
"""A response agrees with a utilization if it is at most this many times as long as a random queue makes it: work in
bursts makes longer queues."""
SLACK = 0.02
"""Error of a utilization near 1."""


def find_bottleneck(summary: "Summary") -> Finding:
    """Find what limits the host: in a sweep at the largest load, in a search near the limit that it found."""
    *lighter, heaviest = order_by_load(summary)
    if finding := judge_doubts(summary, heaviest):
        return finding
    evidence = gather_evidence(summary, heaviest)
    if finding := judge_search(summary):
        saturated = pick_limiting(evidence.saturated) if evidence else None
        return replace(finding, busy=saturated) if isinstance(finding, GaveOut) else finding
    if evidence is None:
        return Undecided("nothing was measured", "")
    baseline = gather_evidence(summary, pick_baseline(summary, lighter, heaviest))
    finding = judge_step(evidence, baseline)
    if isinstance(finding, Undecided | Unlimited) and (unstable := judge_stability(heaviest)):
        return unstable
    if isinstance(finding, Unlimited) and baseline:
        finding = replace(finding, saturates=derive_asymptotes(summary).crossing)
    return add_path(finding, evidence)


def add_path(finding: Finding, evidence: Evidence) -> Finding:
    """Say where the time of slow keys goes, if their paths are known: beside a limit, instead of what is not known."""
    if not (explained := explain_step(evidence.measured.step, evidence.work.unit)):
        return finding
    if isinstance(finding, Saturated | OnTheLine):
        return Followed(explained, finding)
    used = evidence.most_used
    most = f"{name_most_used(used)} is {used.name} ({share(used.used)})" if used else ""
    return Waiting(explained, most, finding.saturates if isinstance(finding, Unlimited) else None)


def judge_doubts(summary: "Summary", heaviest: LoadPoint) -> Finding | None:
    """What makes a run or its step INVALID. Of a search, doubts about a trial that counts describe the host."""
    places = {None} if summary.search else {None, heaviest.step.step}
    doubts = [each.doubt for each in summary.doubts if each.step in places]
    if late := select_driver_doubts(doubts):
        return DriverLimited(str(late[0]), heaviest.text, late[0].advice)
    others = [doubt for doubt in doubts if doubt.trial != "overloaded"]
    return Undecided(f"the run is INVALID: {others[0]}", others[0].advice) if others else None


def pick_baseline(summary: "Summary", lighter: list[LoadPoint], heaviest: LoadPoint) -> LoadPoint | None:
    """The lightest step without doubts, if its load is no more than half of the heaviest."""
    doubtful = {each.step for each in summary.doubts}
    return next(
        (each for each in lighter if each.step.step not in doubtful and 2 * each.amount <= heaviest.amount), None
    )


def judge_stability(heaviest: LoadPoint) -> Finding | None:
    """Why the step that no resource limits shows nothing about the host: the driver's own part, or no steady state."""
    if own := why_void(heaviest.step):
        return DriverLimited(own, heaviest.text, "use fewer users, more --threads or --agents, or a quieter machine")
    if heaviest.step.settled.overload:
        return Undecided(
            f"{why_unsteady(heaviest.step)}, and no meter shows what it waits for", "name it with --meters"
        )
    return None


def judge_step(evidence: Evidence, baseline: Evidence | None) -> Finding:
    """Judge a step by itself, and by a baseline of at most half its load if there is one."""
    line = judge_line(evidence)
    foreign = [
        each
        for each in evidence.saturated
        if is_mostly_foreign(each) and (line or not shows_waiting(evidence, baseline, each))
    ]
    if limiting := pick_limiting([each for each in evidence.saturated if each not in foreign]):
        return judge_saturated(evidence, limiting)
    if finding := line or (judge_growth(evidence, baseline) if baseline else None):
        return finding
    used_by_others = pick_limiting(foreign)
    if used_by_others and used_by_others.own_busy is None:
        busy = f"{used_by_others.name} is {share(used_by_others.busy)} busy at {evidence.at}, by the host or by others"
        return Conflicting(f"{busy}, but {evidence.takes} and no wait for it is seen", ["who uses it"])
    return (None if baseline else judge_single_load(evidence)) or judge_unlimited(evidence, used_by_others)


def judge_saturated(evidence: Evidence, resource: Resource) -> Finding:
    """Whether the response agrees that a saturated resource is the limit."""
    host, takes = evidence.parts.host_seconds, evidence.takes
    busy = f"{resource.name} is {share(resource.busy)} {busy_or_full(resource)} at {evidence.at}"
    saturated = Saturated(resource, evidence.at, evidence.work.unit, evidence.parts.response)
    if resource.kind == Kind.BUFFERS:
        return saturated
    if resource.demand is None:
        owner = evidence.measured.step.find_host(resource.host)
        why = (owner and owner.per_transaction_missing) or "how much of that is the host's own work is not known"
        return Conflicting(f"{busy}, and {why}", ["the host alone (--meters pid:N or cgroup:PATH)"])
    demand = resource.demand
    if resource.own_busy is not None and not is_mostly_foreign(resource) and demand > 1.1 * host * resource.servers:
        costs = f"a {evidence.work.unit} costs {seconds(demand)} of it and {takes}"
        what = f"{busy}, but {costs}: most of that work is no part of {evidence.unit}"
        return Conflicting(what, ["what else it does (cuesta meters profile)"])
    longest = max(LONGER * demand / max(1 - resource.busy - SLACK, 1e-9), demand + resource.waiting())
    if host > max(longest, NOTICEABLE):
        what = f"{busy}, but {takes}, longer than a queue for it: {seconds(longest)} at most"
        return Conflicting(what, list_suspects(evidence.measured))
    return saturated


def judge_line(evidence: Evidence) -> Finding | None:
    """The line, if its characters take most of a response or saturate it."""
    line, parts = read_terminal_line(evidence.measured), evidence.parts
    is_saturated = any(is_full(lines) for lines in evidence.resources if lines.kind == Kind.LINES)
    if line is None or not (is_saturated or parts.line >= MOST_OF_IT * parts.response):
        return None
    return OnTheLine(parts.line, parts.response, line.answer_characters, line.is_exact, line.speed.baud)


def judge_growth(evidence: Evidence, baseline: Evidence) -> Finding | None:
    """A conflict if the response grew with the load, and neither work nor queues that are metered explain it."""
    if not evidence.is_notable(evidence.parts.unexplained - baseline.parts.unexplained):
        return None
    what = f"{baseline.takes} with {baseline.at} and {seconds(evidence.parts.response)} with {evidence.at}"
    used = evidence.most_used
    if used is None:
        return Undecided(f"{what}, and the host was not metered", "name it with --meters")
    most = f"{name_most_used(used)} is {used.name}: {share(used.used)}"
    return Conflicting(f"{what}, and nothing that is metered explains it ({most})", list_suspects(evidence.measured))


def judge_single_load(evidence: Evidence) -> Finding | None:
    """One load cannot tell whether a long response that no meter explains is waiting or the host's own pace."""
    users, parts, used = evidence.measured.step.users, evidence.parts, evidence.most_used
    if users == 1 or not evidence.is_notable(parts.unexplained):
        return None
    what = f"of {evidence.unit} of {seconds(parts.response)}, no meter explains {seconds(parts.unexplained)}"
    busy = f" (it uses {share(used.used)} of {used.name})" if used else ""
    return Undecided(
        f"{what}{busy}", f"measure fewer users too (--users 1,{users}): if it is shorter then, users wait there"
    )


def judge_unlimited(evidence: Evidence, used_by_others: Resource | None) -> Finding:
    """Nothing limits the host, if it was metered or one user was alone; of several hosts, if each was metered."""
    used, response = evidence.most_used, evidence.parts.response
    unmetered = [name for name, host in (evidence.measured.step.hosts or {}).items() if host.cpu is None]
    if unmetered:
        what = f"{join_words(unmetered)} {'were' if len(unmetered) > 1 else 'was'} not metered"
        return Undecided(f"{what}, and {evidence.takes}", "HOST says why")
    if used is None and evidence.measured.step.users > 1:
        advice = "name it with --meters, or measure fewer users too"
        return Undecided(f"the host was not metered, and {evidence.takes}", advice)
    return Unlimited(
        most=used,
        at=evidence.at,
        response=response,
        waiting=evidence.parts.waiting_for(used) if used else 0.0,
        own_pace=evidence.measured.own_pace,
        unit=evidence.unit,
        used_by_others=used_by_others,
        held=min(evidence.measured.held, response),
    )
