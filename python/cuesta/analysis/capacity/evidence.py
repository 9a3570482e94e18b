"""What a finding rests on: one step's work, its resources, the parts of its response, and what these show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuesta.analysis.capacity.findings import NOTICEABLE
from cuesta.analysis.capacity.measured_step import LoadPoint, MeasuredStep, Work
from cuesta.analysis.capacity.resources import Kind, Resource, read_resources
from cuesta.analysis.capacity.response_parts import ResponseParts, divide_response
from cuesta.units import seconds

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary

SATURATED = 0.9
"""Utilization from which on a resource counts as saturated."""
UNEXPLAINED = 0.3
"""Share of the host's part of a response from which on it matters that nothing explains it."""
GROWN = 1.5
"""Ratio of responses, at a load and at no more than half of it, that shows waiting."""


@dataclass(frozen=True, slots=True)
class Evidence:
    measured: MeasuredStep
    at: str
    """The load in words."""
    work: Work
    resources: Sequence[Resource]
    parts: ResponseParts

    @property
    def unit(self) -> str:
        """What users wait for, with its article."""
        return "a response" if self.work.unit == "transaction" else "an echo"

    @property
    def takes(self) -> str:
        return f"{self.unit} takes {seconds(self.parts.response)}"

    @property
    def most_used(self) -> Resource | None:
        """The shared resource of which the host itself is known to use the largest share."""
        known = [each for each in self.resources if each.is_believed and each.own_busy is not None]
        return max((each for each in known if each.kind != Kind.LINES), key=lambda each: each.used, default=None)

    @property
    def saturated(self) -> list[Resource]:
        """The shared resources that are saturated; a user's own line is none of them."""
        return [each for each in self.resources if each.is_believed and is_full(each) and each.kind != Kind.LINES]

    def is_notable(self, unexplained: float) -> bool:
        return unexplained >= max(UNEXPLAINED * self.parts.host_seconds, NOTICEABLE)


def gather_evidence(summary: "Summary", point: LoadPoint | None) -> Evidence | None:
    """None for a step in which nothing was done."""
    measured = MeasuredStep(summary.recorded, point.step) if point else None
    if measured is None or point is None or measured.work is None:
        return None
    resources = read_resources(measured)
    return Evidence(measured, point.text, measured.work, resources, divide_response(measured, resources))


def is_full(resource: Resource) -> bool:
    return resource.busy >= SATURATED


def is_mostly_foreign(resource: Resource) -> bool:
    """Whether less than half of its work is known to be the host's own."""
    return (resource.own_busy or 0.0) < resource.busy / 2


def shows_waiting(evidence: Evidence, baseline: Evidence | None, resource: Resource) -> bool:
    """Whether users wait for a resource: by a meter of it; without one, because responses grew with the load."""
    if evidence.parts.host_seconds < NOTICEABLE:
        return False
    if resource.waited is not None:
        waiting = min(resource.waited, evidence.parts.waiting_for(resource))
        return waiting >= UNEXPLAINED * evidence.parts.host_seconds
    return baseline is not None and evidence.parts.host_seconds >= GROWN * baseline.parts.host_seconds


def pick_limiting(resources: Sequence[Resource]) -> Resource | None:
    """The busiest of several saturated resources, one whose work is known to be the host's own before any other."""
    return max(
        resources,
        key=lambda each: (each.own_busy is not None and each.own_busy >= SATURATED / 2, each.busy),
        default=None,
    )
