"""One resource as it was metered in one step."""

from dataclasses import dataclass
from enum import StrEnum

from cuesta.analysis.models import multi_server_queue

IMPOSSIBLE = 1.05
"""Utilization above which a meter is rejected: 5 % is the error of clock ticks."""
LARGEST = 0.98
"""The utilization by which waiting is computed at most: closer to 1 the mean waiting time has no useful bound."""


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
    """U: utilization; 1 is its whole capacity."""
    source: str
    """Where U comes from."""
    servers: float = 1.0
    """m: CPUs, servers, lines; not whole for a quota."""
    own_busy: float | None = None
    """The part of `busy` that is the host's own work; None if that is not known."""
    demand: float | None = None
    """D: service demand, seconds of one of its servers."""
    waited: float | None = None
    """Time that work was ready and waited for it; None if that is not metered."""
    note: str = ""
    host: str = ""
    """The host that has it, where several are metered."""

    @property
    def used(self) -> float:
        """The host's own utilization where that is known, else U."""
        return self.busy if self.own_busy is None else self.own_busy

    @property
    def is_believed(self) -> bool:
        """Whether its utilization is possible; a meter above 100 % is rejected, never clipped."""
        return 0.0 <= self.busy <= IMPOSSIBLE

    @property
    def most_per_s(self) -> float | None:
        """m / D: the throughput that saturates it."""
        return self.servers / self.demand if self.demand else None

    def waiting(self) -> float:
        """Seconds that a transaction waits for it: as metered, else as an M/M/m queue of its utilization.

        For CPUs the longer of both: input that waits for a busy task, in a socket for example, is not metered.
        """
        if self.kind == Kind.LINES:
            return 0.0
        if self.waited is not None and self.kind != Kind.CPU:
            return self.waited
        if not self.demand:
            return self.waited or 0.0
        busy, servers = min(max(self.busy, 0.0), LARGEST), max(int(self.servers), 1)
        queue = multi_server_queue.response(busy * servers / self.demand, self.demand, servers) - self.demand
        return max(queue, self.waited or 0.0)
