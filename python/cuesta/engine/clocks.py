"""Clocks of agents by the engine's own. All times are nanoseconds.

Agents on the engine's clock need no reading. Any other clock is read by round trips: the agent reads it between the
instants at which the engine sent the request and received the answer, so the middle is wrong by half of that at most.
"""

from dataclasses import dataclass, field
from typing import Self

from cuesta import _native

ROUNDS = 20
"""Readings before the start, of which the best is taken."""
READ_EVERY = 1_000_000_000
"""Nanoseconds between readings during the run."""
WINDOW = 10
"""Readings of which the best is recorded."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A clock at an instant of the engine's."""

    at: int
    offset: int
    """How far the clock is ahead of the engine's."""
    error: int
    """The most by which `offset` may be wrong."""

    @classmethod
    def from_round_trip(cls, sent: int, answered: int, received: int) -> Self:
        """The reading of a round trip; `answered` is on the agent's clock."""
        return cls(received, answered - (sent + received) // 2, (received - sent + 1) // 2)


@dataclass(slots=True)
class AgentClock:
    """The clock of one agent."""

    name: str | None = None
    """Two clocks of one name are the same clock; None if the agent does not know."""
    held: Reading = field(default_factory=lambda: Reading(_native.now(), 0, 0))
    """The reading by which instants are converted. Another one replaces it only if they differ by more than their
    errors, so that these do not shift due times."""
    start_at: int = 0
    """The start of the segment, on this clock."""
    window: list[Reading] = field(default_factory=list)

    @property
    def is_the_engines(self) -> bool:
        return self.name is not None and self.name == _native.clock_name()

    def instant(self, at: int) -> int:
        """An instant of the engine's, on this clock."""
        return at + self.held.offset

    def engine_instant(self, at: int) -> int:
        """An instant of this clock, on the engine's."""
        return at - self.held.offset

    def start(self, at: int) -> int:
        """Note that the segment starts at an instant of the engine's; returns it on this clock."""
        self.start_at = self.instant(at)
        return self.start_at

    def since_start(self, engine_start: int, offset: int) -> int:
        """An offset from the segment's start on the engine's clock, as an offset from its start on this clock."""
        return self.instant(engine_start + offset) - self.start_at

    def take(self, reading: Reading) -> Reading | None:
        """Add a reading to the window. Once WINDOW readings are there, empty the window and return the best of them."""
        self.window.append(reading)
        return None if len(self.window) < WINDOW else self.take_best()

    def take_best(self) -> Reading | None:
        """Empty the window and return the best reading of it; None if it is empty."""
        if not self.window:
            return None
        best = min(self.window, key=lambda reading: reading.error)
        self.window.clear()
        if abs(best.offset - self.held.offset) > best.error + self.held.error:
            self.held = best
        return best
