"""The last minute of a run, second by second."""

from collections import deque
from collections.abc import Callable, Sequence

from cuesta.live.view import View

SECONDS = 60
"""How many intervals are kept."""
BLOCKS = "▁▂▃▄▅▆▇█"


class History:
    """The newest views, one for each interval; their times are of those intervals."""

    def __init__(self) -> None:
        self._views: deque[View] = deque(maxlen=SECONDS)

    def add(self, view: View) -> None:
        """Take a view; one of the interval that is known already replaces it."""
        if self._views and self._views[-1].elapsed == view.elapsed:
            self._views.pop()
        elif self._views and view.elapsed < self._views[-1].elapsed:
            self._views.clear()  # another segment, whose time begins again
        self._views.append(view)

    def values(self, of: Callable[[View], float | None]) -> list[float | None]:
        """A figure of each interval, the oldest first; None where there was none."""
        return [of(view) for view in self._views]


def sparkline(values: Sequence[float | None], width: int, most: float | None = None) -> str:
    """The last values as a row of blocks from 0 to `most`, or the largest of them; a blank where there is none."""
    shown = values[-width:]
    if most is None:
        most = max((value for value in shown if value is not None), default=0.0)
    return "".join(" " if value is None else BLOCKS[_height(value, most)] for value in shown)


def _height(value: float, most: float) -> int:
    return min(int(value / most * len(BLOCKS)), len(BLOCKS) - 1) if most > 0 else 0
