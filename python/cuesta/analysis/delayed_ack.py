"""Tells, without the host's meters, whether Nagle's algorithm holds back the end of an echo.

A hop that writes an echo in pieces and lacks TCP_NODELAY sends its second piece when the first is acknowledged. A
driver on Linux acknowledges at once while a person types, other systems after some 40 ms, so that such a host is quick
for the one and slow for the others, and times alone cannot tell it from one that batches its output. On probe lines the
driver decides at random, key by key, whether it acknowledges at once. No other delay follows that decision: if echoes
do, Nagle's algorithm holds them, and the chance of a false alarm is the level of the test.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from cuesta.ledger.paths import Followed

LEVEL = 0.001
"""The chance of a false alarm in a run, at most."""
ENOUGH = 20
"""Fewest keys each way."""
DELAYS = (0.030, 0.090)
"""Seconds between which a delayed acknowledgement adds to the median: kernels delay it by 40 ms or more."""
PIECES = 2
"""Fewest segments of an echo that is held in part."""


@dataclass(frozen=True, slots=True)
class ProbeEcho:
    """The echo of a key on a line over TCP, and how its segments were acknowledged."""

    group: str
    at_once: bool
    """Whether the kernel acknowledged at once, or as late as it may: decided at random for each key."""
    seconds: float
    """From the key's sending to its echo."""
    first: float
    """From the key's sending to the first bytes behind it, in seconds."""
    segments: int
    """With data, up to the echo."""
    acknowledgements: int
    """Sent without data, up to the echo."""


@dataclass(frozen=True, slots=True)
class HeldEcho:
    """The end of a group's echoes is held until the beginning is acknowledged."""

    group: str
    seconds: float
    """How much longer the median echo takes if the acknowledgement is put off."""


def list_probe_echoes(followed: Iterable[Followed]) -> Iterator[ProbeEcho]:
    """The echoes of which it is known how they were acknowledged."""
    for row in (each.row for each in followed if each.row.what == "echo"):
        if row.quickack is not None and row.first is not None:
            first, seconds = (row.first - row.sent) / 1e9, (row.shown - row.sent) / 1e9
            counts = (row.segments or 0, row.acknowledgements or 0)
            yield ProbeEcho(row.user_group, row.quickack, seconds, first, *counts)


def find_held_echoes(echoes: Iterable[ProbeEcho], level: float = LEVEL) -> list[HeldEcho]:
    """Judge each group by itself. The groups that can be judged share the level, the chance of a false alarm."""
    groups = defaultdict[str, list[ProbeEcho]](list)
    for echo in echoes:
        groups[echo.group].append(echo)
    splits = {name: split_by_acknowledgement(own) for name, own in groups.items()}
    judged = {name: split for name, split in splits.items() if min(map(len, split)) >= ENOUGH}
    held = (judge(name, put_off, at_once, level / len(judged)) for name, (put_off, at_once) in judged.items())
    return [each for each in held if each]


def split_by_acknowledgement(echoes: Iterable[ProbeEcho]) -> tuple[list[ProbeEcho], list[ProbeEcho]]:
    """The echoes whose acknowledgement was put off, and those that were acknowledged at once."""
    split: tuple[list[ProbeEcho], list[ProbeEcho]] = ([], [])
    for echo in echoes:
        split[echo.at_once].append(echo)
    return split


def judge(group: str, put_off: Sequence[ProbeEcho], at_once: Sequence[ProbeEcho], level: float) -> HeldEcho | None:
    """The finding on a group; None if anything speaks against it."""
    late, quick = ([echo.seconds for echo in echoes] for echoes in (put_off, at_once))
    added = median(late) - median(quick)
    came_in_pieces = median(echo.segments for echo in put_off) >= PIECES
    was_acknowledged = median(echo.acknowledgements for echo in put_off) >= 1
    began_early = median(echo.first for echo in put_off) < median(late) / 2
    evidence = came_in_pieces and was_acknowledged and began_early and DELAYS[0] <= added <= DELAYS[1]
    is_held = evidence and chance_of_order(late, quick) < level
    return HeldEcho(group, added) if is_held else None


def chance_of_order(late: Sequence[float], quick: Sequence[float]) -> float:
    """One-sided p-value of Mann and Whitney's test that `late` tends to be longer than `quick`."""
    from scipy.stats import mannwhitneyu  # noqa: PLC0415, it is slow to load, and hardly a run needs it

    return float(mannwhitneyu(late, quick, alternative="greater").pvalue)
