"""One moment of a run, from the newest snapshots of all its agents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cuesta.columns import cut
from cuesta.plain_text import plain
from cuesta.records.merging import add_histograms, per_second
from cuesta.records.messages import Snapshot
from cuesta.records.rows import WaitingCounts, WaitSample
from cuesta.units import many, seconds

LONG = 5.0
"""Seconds of the longest wait from which it is shown: the answer may never arrive."""
MOST_SHOWN = 40
"""Most columns of a row of a screen that are shown."""


@dataclass(frozen=True, slots=True)
class View:
    """One moment of a run. Times are seconds."""

    elapsed: float
    total: float | None
    """The planned length of the run, or `elapsed` if transactions under way prolong it; None if steps may be added."""
    phase: str
    step: int
    steps: int
    users: int
    per_s: float
    """Transactions a second in the last interval."""
    response: tuple[float, float] | None
    """Median and p99 of the last interval, of all agents together."""
    errors: int
    """Errors since the start."""
    waiting: int = 0
    """Users who wait for an answer, a prompt or an echo."""
    longest: float = 0.0
    """The longest of these waits."""
    stuck: WaitSample | None = None
    """The longest wait whose screen is known."""

    def __str__(self) -> str:
        step = f" {self.step + 1}/{self.steps}" if self.steps > 1 else ""
        total = "" if self.total is None else f"/{self.total:.0f}"
        response = "-" if self.response is None else f"p50 {seconds(self.response[0])} p99 {seconds(self.response[1])}"
        return (
            f"{self.phase}{step}  {self.elapsed:.0f}{total} s  {many(self.users, 'user')}  "
            f"{self.per_s:.1f} transactions/s  response {response}  {many(self.errors, 'error')}"
            f"{self._stuck()}"
        )

    @property
    def is_stuck(self) -> bool:
        """Whether a user has waited for so long that the answer may never arrive."""
        return self.longest >= LONG

    def _stuck(self) -> str:
        if not self.is_stuck:
            return ""
        if self.stuck is None:
            return f"; {many(self.waiting, 'user')} waiting for the host, the longest for {seconds(self.longest)}"
        row, has = self.stuck.row, "have" if self.stuck.users > 1 else "has"
        shows = "" if row is None else f"; the screen shows `{shorten(row)}`" if row else "; the cursor's row is empty"
        waited = f"{many(self.stuck.users, 'user')} {has} waited {self.stuck.seconds:.0f} s"
        return f"; {waited} for {shorten(self.stuck.condition)}{shows}"


def shorten(text: str) -> str:
    """The beginning of a text from the host or a tape, without control characters."""
    return cut(plain(text), MOST_SHOWN)


def merge(snapshots: Sequence[Snapshot]) -> View | None:
    """Combine the newest snapshots of all agents; None before the first one."""
    if not snapshots:
        return None
    first = min(snapshots, key=lambda each: each.seconds)
    response = add_histograms(each.response for each in snapshots)
    return View(
        elapsed=first.seconds,
        total=None if first.total is None else max(first.total, first.seconds),
        phase=first.phase or "start",
        step=first.step,
        steps=first.steps,
        users=sum(each.users for each in snapshots),
        per_s=per_second(snapshots, lambda each: each.transactions),
        response=(response.quantile(0.5), response.quantile(0.99)) if response else None,
        errors=sum(each.errors for each in snapshots),
        waiting=sum(_waiting(each.waiting) for each in snapshots),
        longest=max(each.waiting.oldest for each in snapshots),
        stuck=_longest([each.long_wait for each in snapshots if each.long_wait]),
    )


def _waiting(counts: WaitingCounts) -> int:
    """The least possible number of waiting users: a user who waits for echoes may also wait for an answer."""
    return max(counts.answers + counts.prompts, counts.echoes)


def _longest(waits: list[WaitSample]) -> WaitSample | None:
    """The longest wait, with the users of all agents who wait for the same before the same row."""
    longest = max(waits, key=lambda each: each.seconds, default=None)
    if longest is None:
        return None
    alike = [each for each in waits if (each.condition, each.row) == (longest.condition, longest.row)]
    return replace(longest, users=sum(each.users for each in alike))
