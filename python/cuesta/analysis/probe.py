"""Compares probes with the load: a host that is slow is slow for both, a driver that is loaded only for its own users.

Compared are the median and the 90th percentile since a key was sent, of the same work at the same host. Each has an
interval of order statistics; those of a step hold together with 99 %. Values of one user within a second are hardly
independent: they count as one. The load and the probe differ if their intervals are apart by more than a tenth of the
probe's value, and by more than 1 ms; they are alike if no difference within the intervals is above a quarter, or 1 ms;
else the probe cannot tell. It is the host only if both echoes and responses are alike, one of each at least.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuesta.analysis.planned import PlannedProbe
from cuesta.analysis.waits import Waits, strip_end
from cuesta.figures.probe import ProbeComparison, ProbeFigures
from cuesta.ledger import Tag
from cuesta.units import many, seconds

CONFIDENCE = 0.99
"""That all intervals of a step hold."""
FEWEST = 20
"""Values, of one user and second each, below which there is no interval."""
APART, ALIKE, LEAST = 0.1, 0.25, 0.001
"""Differences in parts of the probe's value: more is one, at most this is none; and in seconds: less is none."""
COMPARED = ("echo_from_sent", "response_from_sent")
STATISTICS = {"p50": 0.5, "p90": 0.9}

FindWaits = Callable[[Iterable[str], str, str], Waits]
"""The waits of some groups, by source and series."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What a probe and the load have both done."""

    probe: PlannedProbe
    source: str
    series: str
    own: Waits
    load: Waits


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile in seconds, with its interval."""

    value: float
    low: float
    high: float

    @property
    def known_high(self) -> float | None:
        return None if math.isinf(self.high) else self.high


def compare_probes(
    probes: Mapping[str, PlannedProbe], own_nodes: bool, tags: Iterable[Tag], length: float, find: FindWaits
) -> ProbeFigures:
    """Compare what probes and the load have both done; `length` is that of the measurement in seconds."""
    pairs = [pair for pair in _list_pairs(probes, tags, find) if pair.own.total and pair.load.total]
    deviations = _deviations(2 * len(pairs) * len(STATISTICS))
    comparisons = [_compare(pair, name, length, deviations) for pair in pairs for name in STATISTICS]
    users = sum(probe.users for probe in probes.values())
    verdict = _join_verdicts(comparisons)
    return ProbeFigures(users, list(probes), own_nodes, verdict, comparisons)


def _list_pairs(probes: Mapping[str, PlannedProbe], tags: Iterable[Tag], find: FindWaits) -> Iterator[Pair]:
    for group, source, series in dict.fromkeys((tag.group, tag.source, strip_end(tag.series)) for tag in tags):
        if series in COMPARED and (probe := probes.get(group)):
            yield Pair(probe, source, series, find([group], source, series), find(probe.beside, source, series))


def _compare(pair: Pair, statistic: str, length: float, deviations: float) -> ProbeComparison:
    probe, share = pair.probe, STATISTICS[statistic]
    own = take_quantile(pair.own, share, probe.users * length, deviations)
    load = take_quantile(pair.load, share, sum(probe.beside.values()) * length, deviations)
    return ProbeComparison(
        group=probe.group,
        metric=pair.series,
        transaction="" if pair.series.startswith("echo") else pair.source,
        statistic=statistic,
        count=pair.own.total,
        value=own.value,
        low=own.low,
        high=own.known_high,
        load_count=pair.load.total,
        load_value=load.value,
        load_low=load.low,
        load_high=load.known_high,
        verdict=judge(own, load),
    )


def take_quantile(waits: Waits, share: float, most: float, deviations: float) -> Quantile:
    """A quantile of waits, of which at most `most` count as independent; of too few it may be any time."""
    middle = waits.quantile(share)
    assert middle is not None  # callers have at least one
    number = min(waits.total, most)
    half = deviations * math.sqrt(share * (1 - share) / number) if number >= FEWEST else 1.0
    low, high = (waits.quantile(at) if 0 < at < 1 else None for at in (share - half, share + half))
    is_known = high is not None and not high.at_least
    return Quantile(middle.value, low.value if low else 0.0, high.value if high and is_known else math.inf)


def judge(own: Quantile, load: Quantile) -> str:
    """Whether the load's quantile is above the probe's, alike, or below it, as far as the intervals tell."""
    least, most = load.low - own.high, load.high - own.low
    apart, alike = (max(part * own.value, LEAST) for part in (APART, ALIKE))
    if least > apart:
        return "driver"
    if most < -apart:
        return "probe"
    return "alike" if max(most, -least) <= alike else "unknown"


def _deviations(intervals: int) -> float:
    """Standard deviations on either side of each of some intervals, so that all hold together (Bonferroni)."""
    from statistics import NormalDist  # noqa: PLC0415, slow to load

    return NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2 / max(intervals, 1))


def _join_verdicts(comparisons: Sequence[ProbeComparison]) -> str:
    """Load and probe are alike only if echoes and responses are, as far as they have both."""
    different = {each.verdict for each in comparisons} & {"driver", "probe"}
    if different:
        return different.pop() if len(different) == 1 else "unknown"
    alike = {each.metric for each in comparisons if each.verdict == "alike"}
    return "alike" if alike and alike == {each.metric for each in comparisons} else "unknown"


def describe_probe(probe: ProbeFigures) -> str:
    """One sentence: what the probe saw, and what that means for a time that is too long."""
    if probe.verdict == "unknown":
        return _say_unknown(probe)
    told = [each for each in probe.comparisons if each.verdict == probe.verdict]
    most = max(told, key=lambda each: each.value if probe.verdict == "alike" else abs(each.difference))
    statistic = "median" if most.statistic == "p50" else most.statistic
    mine, rest, what = seconds(most.value), seconds(most.load_value), f"{statistic} {most.name} since sent"
    saw = f"{mine} where the rest saw {rest} ({what})"
    if probe.verdict == "driver":
        return f"the probe saw {saw}: the driver is loaded, not the host"
    if probe.verdict == "probe":
        return f"the probe saw {saw}: it is slowed itself, and tells nothing of the rest"
    shared = "" if probe.own_nodes else ", or the machine that both share"
    return f"the probe saw it too, {mine} beside {rest} ({what}): it is the host{shared}"


def _say_unknown(probe: ProbeFigures) -> str:
    if not probe.comparisons:
        return (
            "the probe cannot tell: it has done nothing that the load does; give it a tape and the target of the load, "
            "at the same line speed and on terminals of the same size"
        )
    if {each.verdict for each in probe.comparisons} >= {"driver", "probe"}:
        return "the probe cannot tell: some of its times are shorter than those of the rest, and some longer"
    most = max((each for each in probe.comparisons if each.verdict == "unknown"), key=lambda each: each.count)
    few = f"{many(most.count, 'value')} ({most.name}), at most one of each user and second,"
    return f"the probe cannot tell: {few} are too few; measure longer, or give it more users"
