"""Barriers across agents: agents report how many users have arrived; the engine decides when all go on."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from cuesta.records.messages import BarrierRelease, BarrierStatus


@dataclass(slots=True)
class Meeting:
    """The users' current meeting at one barrier. Instants are on the engine's clock."""

    round: int = 0
    statuses: dict[int, BarrierStatus] = field(default_factory=dict)
    """The latest of each agent."""

    @property
    def is_complete(self) -> bool:
        arrived = sum(status.arrived for status in self.statuses.values())
        return arrived >= max(status.parties for status in self.statuses.values())

    @property
    def go_on(self) -> int:
        """The instant at which all go on: the latest of the agents' proposals."""
        return max(status.go_on for status in self.statuses.values())


class Meetings:
    """The barriers of a segment. Each agent's reports arrive on a thread of its own."""

    def __init__(self, release: Callable[[BarrierRelease], None]) -> None:
        """`release` lets the users of every agent go on."""
        self._release = release
        self._lock = threading.Lock()
        self._meetings: dict[tuple[int, int], Meeting] = {}

    def hear(self, agent: int, status: BarrierStatus) -> None:
        """Take one agent's status of a barrier; if all users have arrived, tell all agents."""
        place = (status.group, status.barrier)
        with self._lock:
            meeting = self._meetings.setdefault(place, Meeting())
            if status.round != meeting.round:
                return  # sent before the agent read that those users go on
            meeting.statuses[agent] = status
            if meeting.is_complete:
                self._meetings[place] = Meeting(meeting.round + 1)
                self._release(
                    BarrierRelease(group=status.group, barrier=status.barrier, round=meeting.round, go_on=meeting.go_on)
                )
