"""What followed keys have in common: sums by kind of hop, the chain that most share, what makes the slow ones slow."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from statistics import fmean

from cuesta.analysis.path.followed_key import KINDS, OUTSIDE, UNCLOSED, Hop, KeyPath, show_hop
from cuesta.figures.path import ChainedHop, HopMean, HopTimes, PathBand, PathHop, SlowKey

BANDS = {50.0: 5.0, 90.0: 2.5, 95.0: 2.5, 99.0: 1.0}
"""Percentiles of the echo, and how far around each a key counts to it."""
SLOW = 0.99


def describe_times(values: Iterable[int]) -> HopTimes:
    """The distribution of values in ns."""
    ordered = sorted(values)
    if not ordered:
        return HopTimes()
    found = {f"p{share}": pick_quantile(ordered, share / 100) / 1e9 for share in (50, 90, 95, 99)}
    return HopTimes(mean=fmean(ordered) / 1e9, max=ordered[-1] / 1e9, **found)


def describe_mean(values: Sequence[int]) -> HopMean:
    return HopMean(fmean(values) / 1e9 if values else None)


def pick_quantile(ordered: Sequence[int], share: float) -> int:
    """The least value that a share of the values, which are not none, does not exceed."""
    return ordered[max(math.ceil(share * len(ordered) - 1e-9) - 1, 0)]


def sum_by_kind(keys: Sequence[KeyPath], not_shown: Iterable[str] = ()) -> dict[str, list[int]]:
    """For each kind of hop its sum in each key, in ns; empty for kinds that the kernel does not show.

    A reason why it does not begins with them, such as `sent, held: …`.
    """
    hidden = {kind for reason in not_shown for kind in reason.partition(":")[0].split(", ")}
    return {kind: [key.sum_of(kind) for key in keys] if kind not in hidden else [] for kind in KINDS}


def find_chain(keys: Sequence[KeyPath]) -> tuple[list[ChainedHop], int]:
    """The chain of hops that most keys share, over these keys, and how many they are."""
    if not keys:
        return [], 0
    (usual, count), *_ = Counter(key.chain for key in keys).most_common(1)
    sharing = [key for key in keys if key.chain == usual]
    whole = sum(key.ns for key in sharing)
    values = defaultdict[tuple[int, str], list[int]](list)
    tasks = dict[tuple[int, str], str]()
    for key in sharing:
        for hop in key.hops:
            tasks[hop.visit, hop.kind] = hop.task
            values[hop.visit, hop.kind].append(hop.ns)
    order = sorted(values, key=lambda place: (place[0], KINDS.index(place[1]) if place[1] in KINDS else len(KINDS)))
    return [describe_chained(place, tasks[place], values[place], count, whole) for place in order], count


def describe_chained(place: tuple[int, str], task: str, values: Sequence[int], keys: int, whole: int) -> ChainedHop:
    """A hop of the chain; keys without it have 0 of it."""
    ordered = sorted([0] * (keys - len(values)) + list(values))
    return ChainedHop(
        kind=place[1],
        task=task,
        mean=sum(ordered) / keys / 1e9,
        p50=pick_quantile(ordered, 0.5) / 1e9,
        p95=pick_quantile(ordered, 0.95) / 1e9,
        share=sum(ordered) / whole if whole else 0.0,
        visit=place[0],
    )


def divide_bands(keys: Sequence[KeyPath]) -> Iterator[PathBand]:
    """The keys around each percentile, by the whole time of a key."""
    ordered = sorted(keys, key=attrgetter("took"))
    for percentile, around in BANDS.items() if ordered else ():
        low = math.floor((percentile - around) / 100 * len(ordered))
        high = math.ceil(min(percentile + around, 100) / 100 * len(ordered))
        own = ordered[min(low, len(ordered) - 1) : max(high, low + 1)]
        yield PathBand(percentile, len(own), fmean(key.took for key in own) / 1e9, list_parts(own))


def list_parts(keys: Sequence[KeyPath]) -> list[PathHop]:
    """Where the time of keys goes, a row for each kind of hop and task, with what is outside of the host."""
    whole = sum(key.took for key in keys)
    hops = [hop for key in keys for hop in key.hops]
    rest = {OUTSIDE: sum(key.outside for key in keys), UNCLOSED: sum(key.unclosed for key in keys)}
    return merge_hops(hops, rest, len(keys), whole)


def merge_hops(hops: Iterable[Hop], rest: Mapping[str, int], among: int, whole: int) -> list[PathHop]:
    """Merge hops of `among` keys by kind and task, the largest first; with `rest`, in ns by kind. Seconds are means."""
    merged = defaultdict[tuple[str, str], list[Hop]](list)
    for hop in hops:
        merged[hop.kind, hop.task].append(hop)
    parts = [merge_alike(own, among, whole) for own in merged.values()]
    parts += [show_hop(Hop(kind, "", 0, ns // among, 0, 0), whole // among) for kind, ns in rest.items() if ns]
    return sorted(parts, key=lambda part: -part.seconds)


def merge_alike(hops: Sequence[Hop], among: int, whole: int) -> PathHop:
    """Merge hops of one kind and task: each detail is the one that has most of their time."""
    total = sum(hop.ns for hop in hops)
    pids = {hop.pid for hop in hops}
    other, other_pid = pick_heaviest(hops, lambda hop: hop.other), None
    if other:
        numbers = {hop.other_pid for hop in hops if hop.other == other}
        other_pid = numbers.pop() if len(numbers) == 1 else None
    return PathHop(
        kind=hops[0].kind,
        task=hops[0].task,
        pid=(pids.pop() or None) if len(pids) == 1 else None,
        seconds=total / among / 1e9,
        share=total / whole if whole else 0.0,
        begin=None,
        call=pick_heaviest(hops, lambda hop: hop.call),
        other=other,
        other_pid=other_pid,
        why=pick_heaviest(hops, lambda hop: hop.why),
    )


def pick_heaviest(hops: Sequence[Hop], take: Callable[[Hop], str | None]) -> str | None:
    """The value of a detail that has most of the time, None among them."""
    weights = Counter[str | None]()
    for hop in hops:
        weights[take(hop)] += hop.ns
    return max(weights, key=lambda value: weights[value])


def pick_slow_key(keys: Sequence[KeyPath]) -> SlowKey | None:
    """The key nearest to the 99th percentile."""
    if not keys:
        return None
    ordered = sorted(keys, key=attrgetter("took"))
    slow = ordered[max(math.ceil(SLOW * len(ordered)) - 1, 0)]
    row = slow.followed.row
    hops = [show_hop(hop, slow.took) for hop in slow.hops]
    return SlowKey(row.user, row.user_group, slow.followed.shown, slow.took / 1e9, hops)
