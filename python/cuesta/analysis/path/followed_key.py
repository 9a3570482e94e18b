"""A followed key with its path, hop by hop, in ns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from cuesta.analysis.path.join import JoinedKey
from cuesta.figures.path import PathHop
from cuesta.ledger.paths import Followed
from cuesta.records.rows import PathHop as RecordedHop
from cuesta.records.rows import PathRow

KINDS = (
    *("network_stack", "worker_queue", "waking", "run_queue", "on_cpu", "timer", "disk", "sleeping", "others_keys"),
    *("held", "sent", "beyond"),
)
"""Kinds of hops, in the order in which one visit of a task shows them."""
OUTSIDE, UNCLOSED = "outside", "unclosed"
WRITERS = ("held", "sent")
"""What TCP does with an answer after the task that wrote it: it counts as that task's."""
WORKER = "kworker"
"""The kernel's workers: which of them it was does not matter."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A hop of a key."""

    kind: str
    task: str
    pid: int
    ns: int
    begin: int
    """From the path's beginning."""
    visit: int
    """The number of the task's visit on the path."""
    call: str | None = None
    other: str | None = None
    other_pid: int | None = None
    why: str | None = None


@dataclass(frozen=True)
class KeyPath:
    """A key whose path is known."""

    followed: Followed
    path: PathRow
    hops: Sequence[Hop]

    @classmethod
    def from_joined(cls, joined: JoinedKey) -> "KeyPath":
        assert joined.path
        return cls(joined.followed, joined.path, list(list_hops(joined.path.hops)))

    @property
    def ns(self) -> int:
        """Time at the host."""
        return self.path.ns

    @property
    def took(self) -> int:
        """From the key to its echo."""
        return self.followed.took

    @property
    def outside(self) -> int:
        """Network and client. By two clocks, each of which may be a little off: it may be less than 0."""
        return self.took - self.ns

    @property
    def unclosed(self) -> int:
        return self.ns - sum(hop.ns for hop in self.hops)

    @cached_property
    def chain(self) -> tuple[str, ...]:
        """The tasks of the path in order, each with whether it is a task at all."""
        return tuple(next(own).task for _, own in groupby(self.hops, key=lambda hop: hop.visit))

    def sum_of(self, kind: str) -> int:
        return sum(hop.ns for hop in self.hops if hop.kind == kind)


def list_hops(hops: Iterable[RecordedHop]) -> Iterator[Hop]:
    """The hops of a path, each with its visit: hops of one task in a row are one."""
    last: tuple[str, int] | str | None = None
    begin, visit, task, pid = 0, -1, "", 0
    for hop in hops:
        of = (hop.task, hop.pid) if hop.task else hop.kind
        visit += of != last
        last = of
        task, pid = (hop.task, hop.pid) if hop.task else (task, pid)
        is_written = hop.kind in WRITERS and not hop.task
        name = shorten_task(task if is_written else hop.task)
        number = pid if is_written else hop.pid
        yield Hop(hop.kind, name, number, hop.ns, begin, visit, hop.call, hop.other, hop.other_pid, hop.why)
        begin += hop.ns


def shorten_task(name: str) -> str:
    return WORKER if name.startswith(f"{WORKER}/") else name


def show_hop(hop: Hop, whole: int) -> PathHop:
    """A hop as a figure, with its share of the `whole` in ns."""
    return PathHop(
        kind=hop.kind,
        task=hop.task,
        pid=hop.pid or None,
        seconds=hop.ns / 1e9,
        share=hop.ns / whole if whole else 0.0,
        begin=hop.begin / 1e9,
        call=hop.call,
        other=hop.other,
        other_pid=hop.other_pid,
        why=hop.why,
    )
