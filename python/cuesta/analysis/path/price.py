"""What following a key costs it: keys and, beside them on the same line, keys that the tracer leaves out.

Each control key is compared with one followed key beside it, in turn the one before and the one after, so that both
have met the same host. The estimate is the median of all averages of two differences (Hodges–Lehmann), its interval
that of Wilcoxon's signed ranks: exact for few pairs, by the normal approximation of their sum for many.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cuesta.analysis.certainty import TWO_SIDED_95
from cuesta.analysis.hodges_lehmann import LocationShift, paired
from cuesta.analysis.path.join import CONTROL_KEY, JoinedKey

FEWEST = 6
"""Pairs from which on an exact 95 % interval is known."""
EXACT = 40
"""Pairs up to which the interval is exact."""
MOST = 400
"""Pairs that are compared, evenly chosen: their averages are half the square of it."""


@dataclass(frozen=True, slots=True)
class Price:
    """Seconds by which a followed key is later."""

    estimate: float
    low: float
    high: float


def estimate_price(keys: Iterable[JoinedKey]) -> Price | None:
    """None if too few control keys have a followed key beside them."""
    pairs = thin_out(list(pair_keys(keys)), MOST)
    if len(pairs) < FEWEST:
        return None
    control, followed = ([each / 1e9 for each in side] for side in zip(*pairs, strict=True))
    if len(pairs) <= EXACT:
        shift = paired(control, followed)
        interval = shift.interval()
        return Price(shift.estimate, interval.low, interval.high) if interval else None
    shift = average_pairs(control, followed)
    low, high = approximate_interval(shift.differences, len(pairs))
    return Price(shift.estimate, low, high)


def pair_keys(keys: Iterable[JoinedKey]) -> Iterator[tuple[int, int]]:
    """Pairs of times in ns: of a control key, and of a followed key beside it."""
    lines = defaultdict[object, list[JoinedKey]](list)
    for each in keys:
        if each.path or each.missing == CONTROL_KEY:
            row = each.followed.row
            lines[each.followed.segment, row.user_group, row.user].append(each)
    for line in lines.values():
        line.sort(key=lambda each: each.followed.sent)
        places = [place for place, each in enumerate(line) if each.missing == CONTROL_KEY]
        for number, place in enumerate(places):
            beside = (place - 1, place + 1) if number % 2 else (place + 1, place - 1)
            other = next((line[at] for at in beside if 0 <= at < len(line) and line[at].path), None)
            if other:
                yield line[place].followed.took, other.followed.took


def thin_out(pairs: Sequence[tuple[int, int]], most: int) -> Sequence[tuple[int, int]]:
    step = max(len(pairs) / most, 1.0)
    return [pairs[int(number * step)] for number in range(min(len(pairs), most))]


def average_pairs(control: Sequence[float], followed: Sequence[float]) -> LocationShift:
    """As `paired`, without the exact distribution, which takes long to count."""
    own = [after - before for before, after in zip(control, followed, strict=True)]
    averages = [(one + other) / 2 for place, one in enumerate(own) for other in own[place:]]
    return LocationShift(sorted(averages), ())


def approximate_interval(averages: Sequence[float], pairs: int) -> tuple[float, float]:
    """The 95 % interval by the normal approximation of the sum of signed ranks."""
    mean, variance = pairs * (pairs + 1) / 4, pairs * (pairs + 1) * (2 * pairs + 1) / 24
    outside = max(math.floor(mean - TWO_SIDED_95 * math.sqrt(variance)), 0)
    return averages[outside], averages[len(averages) - 1 - outside]
