"""The ports of a run: an engine, which knows the nodes; agents, which drive users there; and who watches.

`engine.local` is one engine. What follows a run (`run_job`, `search`, `agents`) knows only these types: no process, no
shared folder, and no clock but the engine's own. All instants here are nanoseconds on that clock, `_native.now()`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from cuesta.engine.job import Job
from cuesta.engine.spec import Threads
from cuesta.plan import Segment
from cuesta.records.observation import Observation
from cuesta.records.rows import MeterRecord

Row = Mapping[str, Any]
"""An `EngineMessage` or an `AgentMessage` (`records.messages`) as an object of JSON, one a row."""


class Observer(Protocol):
    """Watches a run."""

    def __call__(self, seen: Observation, /) -> None:
        """Take what is seen now. Called a few times a second."""


class Agent(Protocol):
    """A driver that was started on a node.

    Its order has all of the plan and its tapes. What its lines need is on its node: ssh's configuration and keys, the
    programs of `pty:`, which start in its working folder, and a limit of open files above the number of its lines.
    """

    @property
    def number(self) -> int:
        """From 0."""

    @property
    def node(self) -> str | None:
        """The name of its node; None on the engine's own machine."""

    @property
    def records(self) -> str:
        """The folder in which it records, as its node names it."""

    def tell(self, row: Row) -> None:
        """Send a row. If the agent has ended, nothing is raised here: `listen` ends."""

    def listen(self) -> Iterator[Row]:
        """Yield its rows until it ends."""

    def how_it_ended(self) -> str:
        """Wait for its end; how it ended, such as `was killed by signal 9` or `ended with code 1`."""

    def stop(self) -> None:
        """Ask it to end. It still records what it measured."""

    def kill(self) -> None:
        """End it at once."""

    def fetch(self, folder: Path, /) -> None:
        """Bring its records into a folder of the engine's, as far as they got. Called during the run and at its end."""


class Deployment(Protocol):
    """What runs in a segment: the host if it is the built-in one, the agents, and the meters."""

    @property
    def agents(self) -> Sequence[Agent]:
        """They load side by side, and wait for their order."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Additional variables for the programs that agents start on their lines."""

    @property
    def threads(self) -> Threads:
        """How the agents' threads may run."""

    def address(self) -> str | None:
        """Wait until the built-in host listens; its address. None if it is not the target. Call it once."""

    def how_host_ended(self) -> str | None:
        """How the built-in host ended, such as `was killed by signal 9`; None if it runs, or is not the target."""

    def why_lost(self) -> str | None:
        """Why nothing can be expected of the nodes any more; None if it can."""

    def wait_for_meters(self) -> None:
        """Wait for the meters' first reading."""

    def expect(self, number: int, settled: int, end: int) -> None:
        """Announce a step's measurement interval: meters report it, and its neighbour runs beside it.

        Steps are given in order.
        """

    def cut(self, number: int, at: int) -> None:
        """Have an expected step without a neighbour end at an instant ahead; it is left out if it settles later."""

    def expect_no_more(self) -> None:
        """Say that no step follows."""

    def meter_rows(self) -> Sequence[MeterRecord]:
        """The newest reading of each host's meters, or why there is none."""

    def has_reported(self, number: int) -> bool:
        """Whether the meters have reported a step, or never will."""


class Nodes(Protocol):
    """The nodes of a run, with their CPUs and networks."""

    def describe(self) -> Mapping[str, object]:
        """Their entries of `run.json`: `machine` and `placed`."""

    def deploy(self, job: Job, segment: Segment, folder: Path) -> AbstractContextManager[Deployment]:
        """Start host, agents and meters side by side for the block. `folder` receives what host and meters record."""


class Engine(Protocol):
    """A place where runs can be made."""

    def check(self, job: Job) -> None:
        """Raise CuestaError if a run would fail. Nothing is started or written."""

    def why_untraced(self, meters: str) -> str | None:
        """Why the kernel cannot be traced although `meters` (the plan's setting) asks for it.

        None if it can be, if nobody asks, or if only the run will show it.
        """

    def reserve(self, job: Job, /) -> AbstractContextManager[Nodes]:
        """Keep nodes for a run while the block runs."""
