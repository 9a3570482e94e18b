"""Following agents: their shares of the CPUs, and how long one is waited for that was stopped."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from cuesta.engine.agents import FollowedAgent, share_of
from cuesta.engine.meetings import Meetings
from cuesta.engine.ports import Row
from cuesta.private_files import record_file
from cuesta.records.messages import RunSpec


def test_agents_get_their_own_cpus_while_some_are_free() -> None:
    spec = RunSpec(seed=1, drain=0, groups=[], steps=[], cpus=[4, 5, 6], threads=2)
    assert [share_of(spec, number).cpus for number in range(3)] == [[4, 5], [6, 4], [5, 6]]
    assert share_of(replace(spec, cpus=None), 1).cpus is None


class Stopped:
    """An agent that was stopped, and ends when it is killed."""

    number, node, records = 0, None, ""

    def __init__(self) -> None:
        self.killed = Event()

    def tell(self, row: Row) -> None: ...

    def listen(self) -> Iterator[Row]:
        self.killed.wait()
        yield from ()

    def how_it_ended(self) -> str:
        return "was killed"

    def stop(self) -> None: ...

    def kill(self) -> None:
        self.killed.set()

    def fetch(self, folder: Path, /) -> None: ...


class Waits(Event):
    """Waits for the end of an agent: after each it says how much it still removes; it ends after the last one."""

    def __init__(self, followed: FollowedAgent, left: Sequence[int]) -> None:
        super().__init__()
        self.followed, self.left = followed, iter(left)

    def wait(self, timeout: float | None = None) -> bool:
        if timeout is None:
            return True
        left = next(self.left, None)
        self.followed.removing = left or 0
        return left is None


@pytest.mark.parametrize(
    ("left", "is_killed"), [([], False), ([0, 0], True), ([900, 800, 10], False), ([900, 800, 800, 10], True)]
)
def test_a_stopped_agent_is_waited_for_while_it_gets_on_with_removing(
    left: Sequence[int], is_killed: bool, tmp_path: Path
) -> None:
    agent = Stopped()
    with record_file(tmp_path / "agents.jsonl", "w") as record:
        followed = FollowedAgent(agent, Meetings(lambda _: None), record)
        followed.gone = Waits(followed, left)
        followed.wait_until_ended()
        was_killed = agent.killed.is_set()
        agent.kill()
        assert Event.wait(followed.gone, 30)
    assert was_killed == is_killed
