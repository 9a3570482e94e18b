"""Where the time of a mean response goes: lines by arithmetic, work and waiting by meters, and what no meter explains.

A part of the host may be too large, because a meter also counts work outside of responses: the echoes of earlier keys,
for example. So the unexplained rest is at least what is said here, and what is least certain to belong to responses
(waits for CPUs, then what others may use too) only gets what the rest leaves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from cuesta.analysis.capacity.measured import MeasuredStep
from cuesta.analysis.capacity.resources import Kind, Resource
from cuesta.analysis.capacity.resources.terminal_lines import terminal_line
from cuesta.units import digits

OVERLAPPING = (Kind.CPU, Kind.SERVERS)
"""Kinds of which only the longest counts: a thread's time is also its CPU's."""


class Rank(IntEnum):
    """How certain it is that seconds belong to responses, the most certain first."""

    WORK = 1
    WAIT = 2
    CPU_WAIT = 3
    PERHAPS_OTHERS = 4


@dataclass(frozen=True, slots=True)
class ResponsePart:
    """A part of the mean response."""

    what: str
    seconds: float
    source: str
    waits_for: str = ""
    """The resource that is waited for; empty for work."""


@dataclass(frozen=True, slots=True)
class ResponseParts:
    """The mean response and its parts."""

    response: float
    line: float
    """Seconds that the answer's characters take on the line; at most the whole response."""
    delay: float
    """The built-in host's fixed delay, and what TMux holds segments for."""
    parts: Sequence[ResponsePart]
    """All known parts, those of the line and the delay included."""

    @property
    def of_host(self) -> float:
        """The response without the line and the fixed delay."""
        return max(self.response - self.line - self.delay, 0.0)

    def waiting_for(self, of: Resource) -> float:
        """Seconds that users wait for a resource."""
        return sum(part.seconds for part in self.parts if part.waits_for == of.name)

    @property
    def unexplained(self) -> float:
        """What no part explains, in seconds."""
        return max(self.response - sum(part.seconds for part in self.parts), 0.0)


def response_parts(of: MeasuredStep, known: Sequence[Resource]) -> ResponseParts:
    """Divide the mean response of a step in which something was done."""
    response = of.work.mean if of.work else 0.0
    line = terminal_line(of)
    on_line = min(line.seconds, response) if line else 0.0
    parts = []
    if line:
        about = "" if line.is_exact else "about "
        source = f"arithmetic: {about}{digits(line.answer)} characters × {line.speed}"
        parts.append(ResponsePart("the line", on_line, source))
    if of.fixed_delay:
        parts.append(ResponsePart("the built-in host's fixed delay", of.fixed_delay, "the plan"))
    if of.held:
        parts.append(ResponsePart("TMux's hold time, both ways", of.held, "its agents"))
    parts += of_resources(known, response - sum(part.seconds for part in parts))
    return ResponseParts(response, on_line, of.fixed_delay + of.held, parts)


def of_resources(known: Sequence[Resource], rest: float) -> Iterator[ResponsePart]:
    """The work and the waiting of each resource, in `rest` seconds; of resources that overlap, of the one that explains
    most.
    """
    for part in sorted(claims(known), key=lambda part: part[0]):
        taken = min(part[1].seconds, max(rest, 0.0))
        rest -= taken
        yield replace(part[1], seconds=taken)


def claims(known: Sequence[Resource]) -> Iterator[tuple[Rank, ResponsePart]]:
    """What each resource would explain by itself, with how certain that is."""
    believed = [each for each in known if each.is_believed and each.demand and each.kind != Kind.LINES]
    for kind in Kind:
        own = sorted((each for each in believed if each.kind == kind), key=explained, reverse=True)
        for each in own[:1] if kind in OVERLAPPING else own:
            is_own, most = each.own is not None, "" if each.own is not None else ", at most"
            work = ResponsePart(f"work of {each.name}{most}", each.demand or 0.0, each.source)
            yield (Rank.WORK if is_own else Rank.PERHAPS_OTHERS), work
            how = each.source if each.waiting() == each.waited else "queueing theory, from its utilization"
            wait = ResponsePart(f"waiting for {each.name}{most}", each.waiting(), how, each.name)
            yield (rank_of_wait(each) if is_own else Rank.PERHAPS_OTHERS), wait


def rank_of_wait(of: Resource) -> Rank:
    """A task that waits for a CPU may do work that no user waits for."""
    return Rank.CPU_WAIT if of.kind == Kind.CPU else Rank.WAIT


def explained(resource: Resource) -> float:
    """Seconds of a response that a resource can explain."""
    return (resource.demand or 0.0) + resource.waiting()
