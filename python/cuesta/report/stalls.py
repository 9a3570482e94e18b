"""Sentences on stalls: intervals in which the host echoed no user's key."""

from collections.abc import Iterator

from cuesta.analysis.summary import Summary
from cuesta.figures.stalls import Stalls
from cuesta.units import count, many, seconds


def list_stalls(summary: Summary) -> Iterator[str]:
    """A sentence on each step that had some, so that a sweep shows under which load they came."""
    for step in summary.steps:
        if step.stalls and step.stalls.count:
            which = f"step {step.step + 1}: " if summary.planned_steps > 1 else ""
            yield f"{which}{describe_stalls(step.stalls, step.seconds)}"


def describe_stalls(stalls: Stalls, measured: float) -> str:
    """How long nothing was echoed though several users typed, and how often in the measured seconds."""
    longest = f"for {seconds(stalls.longest)} no key was echoed, though keys of {many(stalls.users, 'user')} waited"
    others = f"; {count(stalls.count)} such stalls took {seconds(stalls.seconds)} of {seconds(measured)}"
    return f"{longest}{others * (stalls.count > 1)}"
