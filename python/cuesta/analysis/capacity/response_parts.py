"""Where the time of a mean response goes: lines by arithmetic, work and waiting by meters, and the unexplained rest.

A part of the host may be too large, because a meter also counts work outside of responses, such as the echoes of
earlier keys. So the unexplained rest is a lower bound, and parts that are least certain to belong to responses (waits
for CPUs, then resources that others may use too) are attributed last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import product

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources import Kind, Resource
from cuesta.analysis.capacity.resources.terminal_lines import read_terminal_line
from cuesta.units import digits

OVERLAPPING = (Kind.CPU, Kind.SERVERS)
"""Kinds of which only the longest of a host counts: a thread's time is also its CPU's."""


class Rank(IntEnum):
    """How certain it is that seconds belong to responses; the most certain are attributed first."""

    WORK = 1
    WAIT = 2
    CPU_WAIT = 3
    PERHAPS_OTHERS = 4


@dataclass(frozen=True, slots=True)
class ResponsePart:
    what: str
    seconds: float
    source: str
    waits_for: str = ""
    """The resource that is waited for; empty for work."""


@dataclass(frozen=True, slots=True)
class ResponseParts:
    response: float
    line: float
    """Seconds that the answer's characters take on the line; at most the whole response."""
    delay: float
    """The built-in host's fixed delay, and what TMux holds segments for."""
    parts: Sequence[ResponsePart]
    """All known parts, with those of the line and the delay."""

    @property
    def host_seconds(self) -> float:
        """The response less the line and fixed delays."""
        return max(self.response - self.line - self.delay, 0.0)

    def waiting_for(self, resource: Resource) -> float:
        return sum(part.seconds for part in self.parts if part.waits_for == resource.name)

    @property
    def unexplained(self) -> float:
        """Seconds."""
        return max(self.response - sum(part.seconds for part in self.parts), 0.0)


def divide_response(measured: MeasuredStep, resources: Sequence[Resource]) -> ResponseParts:
    response = measured.work.mean if measured.work else 0.0
    line = read_terminal_line(measured)
    on_line = min(line.seconds, response) if line else 0.0
    parts = []
    if line:
        about = "" if line.is_exact else "about "
        source = f"arithmetic: {about}{digits(line.answer_characters)} characters × {line.speed}"
        parts.append(ResponsePart("the line", on_line, source))
    if measured.fixed_delay:
        parts.append(ResponsePart("the built-in host's fixed delay", measured.fixed_delay, "the plan"))
    if measured.held:
        parts.append(ResponsePart("TMux's hold time, both ways", measured.held, "its agents"))
    parts += attribute_time(resources, response - sum(part.seconds for part in parts))
    return ResponseParts(response, on_line, measured.fixed_delay + measured.held, parts)


def attribute_time(resources: Sequence[Resource], rest: float) -> Iterator[ResponsePart]:
    """Divide `rest` seconds into the work and the waiting of each resource, the most certain parts first."""
    for _, part in sorted(list_claims(resources), key=lambda claim: claim[0]):
        taken = min(part.seconds, max(rest, 0.0))
        rest -= taken
        yield replace(part, seconds=taken)


def list_claims(resources: Sequence[Resource]) -> Iterator[tuple[Rank, ResponsePart]]:
    """The parts that each resource would explain by itself; of overlapping resources, the one that explains most."""
    believed = [each for each in resources if each.is_believed and each.demand and each.kind != Kind.LINES]
    for kind, host in product(Kind, dict.fromkeys(each.host for each in believed)):
        own = [each for each in believed if (each.kind, each.host) == (kind, host)]
        own.sort(key=lambda each: (each.demand or 0.0) + each.waiting(), reverse=True)
        # A task that waits for a CPU may do work that no user waits for.
        wait_rank = Rank.CPU_WAIT if kind == Kind.CPU else Rank.WAIT
        for each in own[:1] if kind in OVERLAPPING else own:
            is_own, most = each.own_busy is not None, "" if each.own_busy is not None else ", at most"
            work = ResponsePart(f"work of {each.name}{most}", each.demand or 0.0, each.source)
            yield (Rank.WORK if is_own else Rank.PERHAPS_OTHERS), work
            source = each.source if each.waiting() == each.waited else "queueing theory, from its utilization"
            wait = ResponsePart(f"waiting for {each.name}{most}", each.waiting(), source, each.name)
            yield (wait_rank if is_own else Rank.PERHAPS_OTHERS), wait
