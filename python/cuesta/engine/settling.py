"""Whether a load has settled: throughput and response, second by second, keep their level. The engine waits for that
before it announces a measurement interval; the analysis judges the measured interval again."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from cuesta._native import Histogram
from cuesta.records.merging import add_histograms, per_second
from cuesta.records.messages import Snapshot

ALIKE = 0.10
"""Two levels are alike if they differ by less than this share of the later one."""
ERRORS = 2.0
"""They are also alike if they differ by less than this number of standard errors of their difference."""
LEAST_FREE = 0.1
"""With this share of an open load's users free, no arrival waits for a user."""


@dataclass(slots=True)
class Series:
    """What the host answered, second by second."""

    throughput: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """Median time until the answers of each second; 0 where there was none."""

    def add_second(self, per_s: float, times: Histogram | None) -> None:
        """Add a second: the answers per second, and their times."""
        self.throughput.append(per_s)
        self.times.append(times.quantile(0.5) if times else 0.0)

    def is_level(self, window: int) -> bool:
        """Whether the last seconds are like as many before them."""
        return are_alike(self.throughput, window) and are_alike(self.times, window)


@dataclass(slots=True)
class Settling:
    """Compares the last seconds with as many before them."""

    window: int
    """Seconds in each of the two parts."""
    users: int
    """Users of the load. Those of the load before may still play the rest of their pass."""
    least_users: float = 0.0
    """With fewer users the load has not settled, until `join_by`: who is turned away tries again."""
    join_by: float = 0.0
    """The second from which no more users are expected to join."""
    wrong_users_until: float = 0.0
    """The end of the last second with more users than the load has, or with too few."""
    seconds: list[float] = field(default_factory=list)
    waits: bool = False
    """Whether a user waited for the host, or for a line, at the end of the last second."""
    waiting: list[float] = field(default_factory=list)
    """How many users waited for the host, second by second."""
    transactions: Series = field(default_factory=Series)
    keys: Series = field(default_factory=Series)

    def add_second(self, snapshots: Sequence[Snapshot]) -> None:
        """Add the last second, if all agents have it and it is new."""
        ends = {each.seconds for each in snapshots}
        if len(ends) != 1 or (self.seconds and max(ends) <= self.seconds[-1]):
            return
        self.seconds.append(max(ends))
        connected = sum(each.users for each in snapshots)
        if connected > self.users or (connected < self.least_users and self.seconds[-1] <= self.join_by):
            self.wrong_users_until = self.seconds[-1]
        waits = [each.waiting for each in snapshots]
        self.waiting.append(sum(each.answers + each.prompts + each.echoes for each in waits))
        self.waits = bool(self.waiting[-1]) or connected < self.users
        answered = [each for each in snapshots if each.transactions > each.silent]
        responses = add_histograms(each.response for each in answered)
        self.transactions.add_second(per_second(snapshots, lambda each: each.transactions), responses)
        echoes = add_histograms(each.echo for each in snapshots)
        self.keys.add_second(per_second(snapshots, lambda each: each.keys), echoes)

    def is_unanswered(self) -> bool:
        """Whether users wait, and nothing was answered or echoed lately."""
        series = (self.transactions, self.keys)
        return self.waits and not any(any(each.times[-self.window :]) for each in series)

    def has_drained(self, since: float) -> bool:
        """Whether the backlog from before `since` is worked off: enough users of an open load are free, and stay so."""
        late = [count for second, count in zip(self.seconds, self.waiting, strict=True) if second > since]
        if len(late) < 2 * self.window:
            return False
        return max(late[-self.window :]) <= (1 - LEAST_FREE) * self.users and are_alike(late, self.window)

    def has_settled(self, since: float) -> bool:
        """Whether throughput and response have kept their level since `since`, and since the number of users was right.

        Where no transaction ended, keys and their echoes decide. A host that answers nothing has not settled: it may
        still recover from the load before.
        """
        first = sum(second <= max(since, self.wrong_users_until) for second in self.seconds)
        if len(self.seconds) - first < 2 * self.window:
            return False
        answered = (series for series in (self.transactions, self.keys) if any(series.times[-self.window :]))
        series = next(answered, None)
        return series is not None and series.is_level(self.window)


def are_alike(values: Sequence[float], window: int) -> bool:
    """Whether the last values have the level of as many before them."""
    late, early = values[-window:], values[-2 * window : -window]
    difference: float = abs(statistics.fmean(late) - statistics.fmean(early))
    error: float = ERRORS * ((statistics.variance(late) + statistics.variance(early)) / window) ** 0.5
    return difference <= max(ALIKE * statistics.fmean(late), error)
