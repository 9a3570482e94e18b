"""Whether a load has settled: throughput and response, second by second, keep their level. The engine waits for that
before it announces a measurement interval; the analysis judges the measured interval again."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ALIKE = 0.10
"""Two levels are alike if they differ by less than this share,"""
ERRORS = 2.0
"""or by less than this number of standard errors of their difference."""


@dataclass(slots=True)
class Settling:
    """Compares the last seconds with as many before them."""

    window: int
    """Seconds in each of the two parts."""
    seconds: list[float] = field(default_factory=list)
    throughput: list[float] = field(default_factory=list)
    response: list[float | None] = field(default_factory=list)
    """Median response of each second; None where no transaction ended."""

    def see(self, snapshots: Sequence[Mapping[str, Any]]) -> None:
        """Note the last second, if all agents have it and it is new."""
        ends = {each["seconds"] for each in snapshots}
        if len(ends) != 1 or (self.seconds and max(ends) <= self.seconds[-1]):
            return
        self.seconds.append(max(ends))
        self.throughput.append(sum(each["transactions"] / each["length"] for each in snapshots if each["length"]))
        medians = [each["response"][0] for each in snapshots if each["response"]]
        self.response.append(max(medians) if medians else None)

    def has_settled(self, since: float) -> bool:
        """Whether both series have kept their level; only seconds that end after `since` count.

        A host that answers nothing may still recover from the load before.
        """
        first = sum(second <= since for second in self.seconds)
        if len(self.seconds) - first < 2 * self.window:
            return False
        if not any(self.throughput[-self.window :]):
            return False
        responses = [each or 0.0 for each in self.response]
        return alike(self.throughput, self.window) and alike(responses, self.window)


def alike(values: Sequence[float], window: int) -> bool:
    """Whether the last values have the level of as many before them."""
    late, early = values[-window:], values[-2 * window : -window]
    difference: float = abs(statistics.fmean(late) - statistics.fmean(early))
    error: float = ERRORS * ((statistics.variance(late) + statistics.variance(early)) / window) ** 0.5
    return difference <= max(ALIKE * statistics.fmean(late), error)
