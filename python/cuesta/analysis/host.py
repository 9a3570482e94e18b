"""What the built-in host says of itself over a measurement interval. It is the host's word, not the driver's."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.ledger import HostRow, Step

NO_CPU = "no meter data: the host's CPUs were not metered in this run"


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """The built-in host's own meters. None where it has no such thing."""

    seconds: float
    """Sum of the intervals that lie in the measurement."""
    lines: int
    """Most lines that were connected."""
    served_per_s: float
    """Messages taken from terminals a second: rows, or characters of raw input."""
    answered_per_s: float
    line_in_per_s: float
    line_out_per_s: float
    pool_size: int
    """Characters."""
    pool_used: int
    """Most that waited in the pool at once since the host started."""
    servers: int
    busy: float | None
    """Utilization of the servers that the service law knows of."""
    queue: float | None
    """Mean number of messages that waited for a server."""
    cpu: float
    """Seconds of CPU a second, of the whole process."""


@dataclass(frozen=True, slots=True)
class Host:
    """The system under test."""

    cpu: None
    """Percent of the host's CPUs by use, once hosts are metered."""
    cpu_missing: str | None
    builtin: BuiltIn | None


def host(rows: Sequence[HostRow], step: Step) -> Host:
    """Take what the host's own meters say of a step's measurement interval."""
    shares = [(row, share) for row in rows if (share := share_within(row, step)) > 0]
    return Host(None, NO_CPU, built_in(shares))


def share_within(row: HostRow, step: Step) -> float:
    """Give what share of a row lies in the measurement interval: its second is cut on the host's own schedule."""
    overlap = min(row.end, step.end) - max(row.end - row.length, step.settled)
    return max(overlap / row.length, 0.0) if row.length else 0.0


def built_in(shares: Sequence[tuple[HostRow, float]]) -> BuiltIn | None:
    """Sum up rows by their shares; none if there are none."""
    length = sum(row.length * share for row, share in shares)
    if not length:
        return None
    rows = [row for row, _ in shares]
    last = rows[-1].figures

    def total(table: str, name: str) -> float:
        return float(sum(row.figures[table][name] * share for row, share in shares))

    def mean(name: str) -> float | None:
        known = [(row, share) for row, share in shares if row.figures["servers"][name] is not None]
        busy = sum(row.figures["servers"][name] * row.length * share for row, share in known)
        return busy / length if known else None

    return BuiltIn(
        seconds=length,
        lines=max(row.figures["lines"]["connected"] for row in rows),
        served_per_s=total("messages", "in") / length,
        answered_per_s=total("messages", "out") / length,
        line_in_per_s=total("characters", "line_in") / length,
        line_out_per_s=total("characters", "line_out") / length,
        pool_size=last["pool"]["size"],
        pool_used=last["pool"]["size"] - last["pool"]["least_free"],
        servers=last["servers"]["number"],
        busy=mean("busy"),
        queue=mean("mean_queue"),
        cpu=total("cpu", "process") / length,
    )
