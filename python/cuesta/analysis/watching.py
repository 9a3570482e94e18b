"""What those who watched a run left: marks, when they held the start of users, and what watching cost the driver."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

from cuesta.figures.watching import HeldStarts, MarkFigures
from cuesta.ledger import Recorded, StepTimes
from cuesta.ledger.watching import RecordedMark


def list_marks(recorded: Recorded) -> list[MarkFigures]:
    """Name the step of each mark."""
    return [MarkFigures(mark.at, find_step(recorded.steps, mark.at), mark.note) for mark in recorded.marks]


def find_step(steps: Mapping[int, StepTimes], at: float) -> int | None:
    """The step that was under way at an instant."""
    return next((number for number, times in steps.items() if times.begin <= at < times.end), None)


def list_held(recorded: Recorded) -> list[HeldStarts]:
    """List the times in which starts were held."""
    measured = [(times.settled, times.end) for times in recorded.steps.values()]
    return [
        HeldStarts(begin, None if math.isinf(end) else end, sum(overlap(begin, end, *each) for each in measured))
        for begin, end in find_held(recorded)
    ]


def held_between(recorded: Recorded, begin: float, end: float) -> float:
    """For how many seconds of a part of the run starts were held."""
    return sum(overlap(begin, end, *each) for each in find_held(recorded))


def find_held(recorded: Recorded) -> Iterator[tuple[float, float]]:
    """When starts were held, and until when: infinite if they were not released any more."""
    changes = list[RecordedMark]()
    for mark in recorded.marks:
        if mark.holds_starts is not None and mark.holds_starts is not (changes[-1].holds_starts if changes else False):
            changes.append(mark)
    for change, following in pairwise([*changes, None]):
        if change and change.holds_starts:
            yield change.at, following.at if following else math.inf


def overlap(begin: float, end: float, first: float, last: float) -> float:
    """How much two spans have in common."""
    return max(min(end, last) - max(begin, first), 0.0)


def describe_watchers(recorded: Recorded, step: int) -> dict[str, float]:
    """CPU seconds per second of each who watched a step, by name."""
    watchers = recorded.watchers.get(step, ())
    return {each.name: each.cpu / each.seconds for each in watchers if each.seconds > 0}
