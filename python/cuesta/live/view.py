"""One moment of a run, from the newest snapshots of all its agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuesta.units import many, seconds


@dataclass(frozen=True, slots=True)
class View:
    """One moment of a run. Times are seconds."""

    elapsed: float
    total: float
    """How long the run takes; it grows while transactions under way take longer to end."""
    phase: str
    step: int
    steps: int
    users: int
    per_s: float
    """Transactions a second in the last interval."""
    response: tuple[float, float] | None
    """Median and p99 of the last interval: of several agents, those of the slowest."""
    errors: int
    """Since the start."""

    def __str__(self) -> str:
        step = f" {self.step + 1}/{self.steps}" if self.steps > 1 else ""
        response = "-" if self.response is None else f"p50 {seconds(self.response[0])} p99 {seconds(self.response[1])}"
        return (
            f"{self.phase}{step}  {self.elapsed:.0f}/{self.total:.0f} s  {many(self.users, 'user')}  "
            f"{self.per_s:.1f} transactions/s  response {response}  {many(self.errors, 'error')}"
        )


def merge(snapshots: Sequence[Mapping[str, Any]]) -> View | None:
    """Make one view of the newest snapshots of all agents; None while there is none."""
    if not snapshots:
        return None
    slowest = max(snapshots, key=lambda each: each["response"][1] if each["response"] else 0.0)
    first = min(snapshots, key=lambda each: each["seconds"])
    return View(
        elapsed=first["seconds"],
        total=max(first["total"], first["seconds"]),
        phase=first["phase"] or "start",
        step=first["step"],
        steps=first["steps"],
        users=sum(each["users"] for each in snapshots),
        per_s=sum(each["transactions"] / each["length"] for each in snapshots if each["length"]),
        response=tuple(slowest["response"]) if slowest["response"] else None,
        errors=sum(each["errors"] for each in snapshots),
    )
