"""What is known of one resource in one step."""

from dataclasses import dataclass
from enum import StrEnum

from cuesta.analysis.models import multi_server_queue

IMPOSSIBLE = 1.05
"""Utilization from which on a meter is not believed: nothing is busier than all the time. 5 % is the error of ticks."""
LARGEST = 0.98
"""Utilization from which on the mean waiting time has no bound that is worth a number."""


class Kind(StrEnum):
    """Resources of one kind overlap: a thread's time is also time of a CPU."""

    CPU = "cpu"
    DISK = "disk"
    NETWORK = "network"
    SERVERS = "servers"
    BUFFERS = "buffers"
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that was metered in one step. Times are seconds for each transaction."""

    name: str
    kind: Kind
    busy: float
    """U: the share of its capacity in use; 1 is all of it."""
    source: str
    """Where U comes from."""
    servers: float = 1.0
    """m: how many transactions it can serve at once: CPUs, servers, lines."""
    own: float | None = None
    """The part of `busy` that is the host's own work; None if that is not known."""
    demand: float | None = None
    """D: service demand, the time of one of its servers that a transaction takes."""
    waited: float | None = None
    """Time that work was ready and waited for it; None if that is not metered."""
    note: str = ""

    @property
    def used(self) -> float:
        """The part of its capacity that the host itself uses, as far as that is known apart."""
        return self.busy if self.own is None else self.own

    @property
    def is_believed(self) -> bool:
        """Whether its utilization is possible at all. A meter that says more than all is rejected, never clipped."""
        return 0.0 <= self.busy <= IMPOSSIBLE

    @property
    def most_per_s(self) -> float | None:
        """m / D: the throughput at which it is busy all the time."""
        return self.servers / self.demand if self.demand else None

    def waiting(self) -> float:
        """Time that a transaction waits for it: as metered, else what its utilization makes of random arrivals.

        For CPUs it is the longer of both, because input that waits for a busy task, in a socket for example, is not
        metered.
        """
        if self.kind == Kind.LINES:
            return 0.0
        if self.waited is not None and self.kind != Kind.CPU:
            return self.waited
        if not self.demand:
            return self.waited or 0.0
        busy, servers = min(max(self.busy, 0.0), LARGEST), max(int(self.servers), 1)
        queue = multi_server_queue.solve(busy * servers / self.demand, self.demand, servers).response - self.demand
        return max(queue, self.waited or 0.0)
