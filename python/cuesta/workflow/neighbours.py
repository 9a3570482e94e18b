"""What a comparison puts beside the users: a command, other sessions."""

from collections.abc import Mapping
from dataclasses import dataclass

from cuesta.analysis.neighbour import quote_command
from cuesta.errors import UsageError
from cuesta.plain_text import plain
from cuesta.units import many

LONGEST = 24
"""Characters of a command in the name of a side, which heads a column."""
IDLE = "exec sleep 1000000"
"""The command beside the users who are alone: it takes nothing, and the driver runs as beside any other."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What runs beside the users."""

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

    def check(self) -> None:
        """Raise UsageError if there is nothing beside the users."""
        if self.sessions is not None and not (self.sessions.isdigit() and int(self.sessions) > 1):
            what = f"cuesta compare: --sessions: expected a number of at least 2, got {self.sessions!r}"
            raise UsageError(what, "it counts the user's own, too: --sessions 10 is nine others")
        if self.sessions_tape is not None and self.sessions is None:
            raise UsageError("cuesta compare: --sessions-tape needs --sessions", "as --sessions 10")

    def name(self) -> str:
        """Name the side that has them: "beside `make -j8`"."""
        parts = [] if self.sessions is None else [many(int(self.sessions) - 1, "other session")]
        parts += [] if self.beside is None else [plain(quote_command(self.beside, LONGEST))]
        return f"beside {' and '.join(parts)}"


ALONE = Neighbours()
"""Nothing runs beside the users."""
