"""The measurement intervals that meters and the record of the wire are told to expect."""

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cuesta import _native


@dataclass(frozen=True, slots=True)
class ExpectedStep:
    """A step's measurement interval, in ns of the monotonic clock."""

    number: int
    settled: int
    end: int


class ExpectedSteps:
    """Steps in order. One thread waits for their bounds; others add steps, and may cut the last one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._steps: deque[ExpectedStep] = deque()
        self._is_last = False
        """Whether no step follows."""
        self._is_over = False

    def expect(self, number: int, settled: int, end: int) -> None:
        """Add a step."""
        with self._changed:
            self._steps.append(ExpectedStep(number, settled, end))
            self._changed.notify()

    def cut(self, number: int, at: int) -> None:
        """Have a step end at an instant ahead; one that has not settled by then is left out."""
        with self._changed:
            cut = [replace(step, end=at) if step.number == number else step for step in self._steps]
            self._steps = deque(step for step in cut if step.settled < step.end)
            self._changed.notify()

    def expect_no_more(self) -> None:
        """Say that no step follows."""
        with self._changed:
            self._is_last = True
            self._changed.notify()

    def stop(self) -> None:
        """End all waits for bounds."""
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def bounds(self) -> Iterator[tuple[int, bool]]:
        """Yield each step's number when its interval begins, and when it ends: then the second value is True."""
        while (begun := self._wait_for_bound(ends=False)) is not None:
            yield begun, False
            if (ended := self._wait_for_bound(ends=True)) is None:
                return
            yield ended, True

    def _wait_for_bound(self, *, ends: bool) -> int | None:
        """Wait for a bound of the first step, which is dropped at its end; None if there is none."""
        with self._changed:
            while not self._is_over and (self._steps or not self._is_last):
                step = self._steps[0] if self._steps else None
                left = ((step.end if ends else step.settled) - _native.now()) / 1e9 if step else None
                if step and left is not None and left <= 0:
                    if ends:
                        self._steps.popleft()
                    return step.number
                self._changed.wait(left)
        return None
