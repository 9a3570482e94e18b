"""All that those who follow a run know of it: its course, the newest moment, screens, and what was said."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.live.about import About
from cuesta.live.timeline import Point, Timeline
from cuesta.live.view import View, merge
from cuesta.records.messages import UserScreen
from cuesta.records.observation import Observation
from cuesta.records.rows import MarkRow

MOST_KEPT = 200
"""Sentences, and marks, that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run has ended."""

    sentence: str
    """As on a terminal."""
    folder: str | None = None
    """The run folder; None if there is no report."""


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence on a run, or a marked instant of it."""

    at: float
    """Seconds since the start of the run."""
    text: str


@dataclass(frozen=True, slots=True)
class Moment:
    """The newest moment of a run."""

    now: float
    """Seconds since the start of the run, through all its segments."""
    view: View


@dataclass(frozen=True, slots=True)
class Course:
    """What is run, and its course so far."""

    about: About
    course: Sequence[Point]


class Log:
    """What was said, in order; the oldest is forgotten when there is too much."""

    def __init__(self) -> None:
        self.entries = deque[Said](maxlen=MOST_KEPT)
        self.count = 0
        """How many there ever were."""

    def add(self, said: Said) -> None:
        """Take the newest."""
        self.entries.append(said)
        self.count += 1

    def since(self, count: int) -> Sequence[Said]:
        """Those after the first `count`, as far as they are kept."""
        return list(self.entries)[-new:] if (new := self.count - count) else ()


class FollowedRun:
    """A run that goes on."""

    def __init__(self, about: About) -> None:
        self.about = about
        self.moment: Moment | None = None
        self.timeline = Timeline()
        self.course = Course(about, ())
        self.screens: Sequence[UserScreen] = ()
        self.told = Log()
        """What was said of the run."""
        self.marks = Log()
        """The instants that somebody marked."""
        self.ending: Ending | None = None
        self._marks: Sequence[MarkRow] = ()
        self._answers = 0

    @property
    def view(self) -> View | None:
        """The newest moment by the time of its segment."""
        return self.moment.view if self.moment else None

    def take(self, seen: Observation) -> None:
        """Take what is seen of it. Without snapshots the newest moment stays."""
        self.screens = seen.screens
        if view := merge(seen):
            self.timeline.add(view)
            self.course = Course(self.about, tuple(self.timeline.points))
            self.moment = Moment(self.timeline.now, view)
        for answer in seen.answers[self._answers :]:
            self.tell(answer)
        self._answers = len(seen.answers)
        known = len(self._marks) if tuple(seen.marks[: len(self._marks)]) == self._marks else 0
        for mark in seen.marks[known:]:
            self.marks.add(Said(self.timeline.before + mark.seconds, mark.note))
        self._marks = tuple(seen.marks)

    def tell(self, sentence: str) -> None:
        """Take a sentence on its progress."""
        self.told.add(Said(self.timeline.now, sentence))

    def end(self, ending: Ending) -> None:
        """It has ended."""
        self.ending = ending
