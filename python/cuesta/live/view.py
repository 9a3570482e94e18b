"""What is shown of a run at one moment, from the newest snapshots of all its agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class View:
    """One moment of a run. Times in seconds."""

    elapsed: float
    total: float
    """How long it will take; longer when what is under way takes longer to end."""
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
        response = "-" if self.response is None else f"p50 {show(self.response[0])} p99 {show(self.response[1])}"
        return (
            f"{self.phase}{step}  {self.elapsed:.0f}/{self.total:.0f} s  {self.users} users  "
            f"{self.per_s:.1f} tx/s  response {response}  {self.errors} errors"
        )


def merge(snapshots: Sequence[Mapping[str, Any]]) -> View | None:
    """Make one view of all agents; None while there is nothing to see."""
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


def show(seconds: float) -> str:
    """Show a time in three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
