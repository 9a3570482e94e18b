"""Barriers across agents: agents report how many users have arrived; the engine decides when all go on."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Report = Mapping[str, Any]
"""What an agent says of a barrier, or is told. Instants in it are on the engine's clock."""


@dataclass(slots=True)
class Meeting:
    """The users' current meeting at one barrier. A standing is an agent's latest report on it."""

    round: int = 0
    standings: dict[int, Report] = field(default_factory=dict)
    """The latest report of each agent."""

    @property
    def is_complete(self) -> bool:
        arrived = sum(int(standing["arrived"]) for standing in self.standings.values())
        return arrived >= max(int(standing["parties"]) for standing in self.standings.values())

    @property
    def go_on(self) -> int:
        """The instant at which all go on: the latest of the agents' proposals."""
        return max(int(standing["go_on"]) for standing in self.standings.values())


class Meetings:
    """The barriers of a segment. Each agent's reports arrive on a thread of its own."""

    def __init__(self, release: Callable[[Report], None]) -> None:
        """`release` lets the users of every agent go on."""
        self._release = release
        self._lock = threading.Lock()
        self._meetings: dict[tuple[int, int], Meeting] = {}

    def hear(self, agent: int, standing: Report) -> None:
        """Take one agent's report on a barrier; if all users have arrived, tell all agents."""
        place = (standing["group"], standing["barrier"])
        with self._lock:
            meeting = self._meetings.setdefault(place, Meeting())
            if standing["round"] != meeting.round:
                return  # sent before the agent read that those users go on
            meeting.standings[agent] = standing
            if not meeting.is_complete:
                return
            self._meetings[place] = Meeting(meeting.round + 1)
            self._release({"group": place[0], "barrier": place[1], "round": meeting.round, "go_on": meeting.go_on})
