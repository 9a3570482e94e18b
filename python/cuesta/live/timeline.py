"""The course of a run from its start, in as many points as a chart can show."""

from dataclasses import dataclass, replace

from cuesta.live.view import View

MOST = 600
"""Most points. When there are more, every second one is left out, and from then on every second one is taken."""


@dataclass(frozen=True, slots=True)
class Point:
    """A moment of a run, the end of an interval."""

    at: float
    """Seconds since the start of the run, through all its segments."""
    view: View
    """Without glimpses of users."""


class Timeline:
    """Takes each view of a run, and keeps those that a chart shows."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        """The oldest first."""
        self.added = 0
        """How many points there ever were."""
        self.before = 0.0
        """Seconds of the segments before this one."""
        self._newest: View | None = None
        self._stride = 1
        self._intervals = 0

    @property
    def now(self) -> float:
        """Seconds since the start of the run."""
        return self.before + (self._newest.elapsed if self._newest else 0.0)

    def add(self, view: View) -> None:
        """Take a view; one of an interval that is known already adds nothing."""
        if self._newest and view.elapsed < self._newest.elapsed:  # another segment, whose time begins again
            self.before = self.now
        elif self._newest and view.elapsed == self._newest.elapsed:
            return
        self._newest = view
        if self._intervals % self._stride == 0:
            self.points.append(Point(self.now, replace(view, glimpses=())))
            self.added += 1
        self._intervals += 1
        if len(self.points) > MOST:
            self.points = self.points[::2]
            self._stride *= 2
