"""Which hop grew: the one whose mean is longer by most, between two loads or two sides of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from cuesta.analysis.path.explain import ENOUGH, SLOW
from cuesta.analysis.path.phrases import label_hop
from cuesta.figures.path import PathBand, PathHop, PathPart
from cuesta.units import seconds

Hops = Mapping[tuple[str, str], float]
"""Mean seconds of a key by kind of hop and task."""
LEAST = 50e-6
"""Seconds of growth that are worth a sentence."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A hop that grew, in mean seconds of a key."""

    kind: str
    task: str
    before: float
    after: float

    @property
    def by(self) -> float:
        return self.after - self.before

    def __str__(self) -> str:
        return f"{label_hop(self.kind, self.task)}, from {seconds(self.before)} to {seconds(self.after)} a key"


def list_means(path: PathPart | None) -> Hops:
    """The hops of a step's keys; none if too few were followed."""
    if path is None or path.keys < ENOUGH:
        return {}
    return {(part.kind, part.task): part.seconds for part in path.parts}


def average_means(runs: Sequence[Hops]) -> Hops:
    """The hops of several runs, of those that have some."""
    known = [hops for hops in runs if hops]
    places = dict.fromkeys(place for hops in known for place in hops)
    return {place: fmean(hops.get(place, 0.0) for hops in known) for place in places}


def find_growth(before: Hops, after: Hops) -> Growth | None:
    """The hop that grew most; None if none did, or nothing is known of one side."""
    if not (before and after):
        return None
    grown = [Growth(*place, before.get(place, 0.0), mean) for place, mean in after.items()]
    most = max(grown, key=lambda growth: growth.by)
    return most if most.by >= LEAST else None


def find_slow_band(path: PathPart | None) -> PathBand | None:
    """The keys around the 95th percentile; None if too few were followed."""
    bands = path.bands if path and path.keys >= ENOUGH else []
    return next((band for band in bands if band.percentile == SLOW and band.parts), None)


def find_longest_part(band: PathBand, base: PathBand | None = None) -> tuple[PathHop, float]:
    """The part of slow keys that is longer than in those of `base` by most, and by how much; else the largest."""
    before = {(part.kind, part.task): part.seconds for part in base.parts} if base else {}
    return max(
        ((part, part.seconds - before.get((part.kind, part.task), 0.0)) for part in band.parts),
        key=lambda found: found[1],
    )
