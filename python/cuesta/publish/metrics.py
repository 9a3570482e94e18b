"""What dashboards are told of a run: counts and distributions since its start, and how things stand now.

Names are those of OpenTelemetry: durations in seconds, by group and by transaction, never by user.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from cuesta._native import Histogram
from cuesta.live.view import View, merge
from cuesta.records.messages import Snapshot
from cuesta.records.observation import Observation
from cuesta.records.series import KEYS

OF_KEYS = ("echo", "lateness")
OF_TRANSACTIONS = ("response", "first_response")
"""The time series that are told, by the names of their figures."""


@dataclass(frozen=True, slots=True, order=True)
class Distribution:
    """Which durations: `cuesta.FIGURE.duration`."""

    figure: str
    group: str
    transaction: str | None
    """None for durations of keys."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Since the start of the run."""

    transactions: int
    keys: int
    characters: Mapping[str, int]
    """Those typed are `in`, those shown `out`."""
    errors: Mapping[str, int]


class Metrics:
    """Takes what is seen of a run, and says what dashboards are told. Segments of a run add up."""

    def __init__(self) -> None:
        self.view: View | None = None
        """The newest moment."""
        self._latest: dict[int, Snapshot] = {}
        self._before: list[Snapshot] = []
        """The last snapshots of each segment that has ended."""

    def take(self, seen: Observation) -> None:
        self.view = merge(seen) or self.view
        for snapshot in seen.snapshots:
            before = self._latest.get(snapshot.agent)
            if before and snapshot.seconds < before.seconds:
                self._before += self._latest.values()
                self._latest.clear()
            self._latest[snapshot.agent] = snapshot

    def distributions(self) -> dict[Distribution, Histogram]:
        """All durations since the start of the run."""
        parts: dict[Distribution, list[Histogram]] = {}
        for snapshot in self._all():
            for tag, encoded in snapshot.series.items():
                if which := _distribution(tag):
                    parts.setdefault(which, []).append(Histogram.decode(encoded))
        sums = {which: Histogram.sum(histograms) for which, histograms in sorted(parts.items())}
        return {which: total for which, total in sums.items() if total}

    def counts(self) -> Counts:
        totals = [snapshot.totals for snapshot in self._all() if snapshot.totals]
        errors = Counter[str]()
        for each in totals:
            errors.update(each.errors)
        return Counts(
            transactions=sum(each.transactions for each in totals),
            keys=sum(each.keys for each in totals),
            characters={
                "in": sum(each.characters.in_ for each in totals),
                "out": sum(each.characters.out for each in totals),
            },
            errors=errors,
        )

    def _all(self) -> Iterator[Snapshot]:
        yield from self._before
        yield from self._latest.values()


def _distribution(tag: str) -> Distribution | None:
    """Which durations a series has; None if they are not told."""
    group, source, series = map(unquote, tag.split("/"))
    if source == KEYS:
        return Distribution(series, group, None) if series in OF_KEYS else None
    return Distribution(series, group, source) if series in OF_TRANSACTIONS else None
