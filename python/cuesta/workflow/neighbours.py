"""What a comparison puts beside the users of one side: a command, other sessions. The other side's are alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from cuesta.analysis.neighbour import quote_command
from cuesta.errors import UsageError
from cuesta.plain_text import plain
from cuesta.units import many

ALONE = "alone"
LONGEST = 24
"""Characters of a command in the name of a side, which heads a column."""
IDLE = "exec sleep 1000000"
"""The command beside the users who are alone: it takes nothing, and the driver runs as beside any other."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What runs beside the users of the new side."""

    beside: str | None = None
    """A command."""
    sessions: str | None = None
    """How many sessions there are, with the user's own."""
    sessions_tape: str | None = None

    def flags(self) -> Mapping[str, str]:
        """The settings of a run beside them."""
        given = {"beside": self.beside, "sessions": self.sessions, "sessions_tape": self.sessions_tape}
        return {name: value for name, value in given.items() if value is not None}

    def flags_alone(self) -> Mapping[str, str]:
        """The settings of a run without them that differs in nothing else."""
        without = {"beside": IDLE, "sessions": "1"}
        return {name: without.get(name, value) for name, value in self.flags().items()}

    def name(self) -> str:
        """Name the new side: "beside `make -j8`". Raises UsageError if no other session is asked for."""
        parts = [] if self.sessions is None else [many(count_others(self.sessions), "other session")]
        parts += [] if self.beside is None else [plain(quote_command(self.beside, LONGEST))]
        return f"beside {' and '.join(parts)}"


def count_others(sessions: str) -> int:
    """How many sessions are not the user's own. Raises UsageError."""
    if not (sessions.isdigit() and int(sessions) > 1):
        what = f"cuesta compare: --sessions: expected a number of at least 2, got {sessions!r}"
        raise UsageError(what, "it counts the user's own, too: --sessions 10 is nine others")
    return int(sessions) - 1
