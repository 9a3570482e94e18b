"""Stalls of all users at once, by the log of keys: stretches in which keys of several users waited and none was echoed.

A host that is slow for all users echoes their keys one after another: no such stretch is long. In a long one it echoed
no key at all, as a host does whose single thread waits for something.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from cuesta.figures.stalls import Stalls
from cuesta.ledger import Recorded, StepTimes
from cuesta.ledger.keys import Key, has_key_log, read_keys

SHORTEST_STALL = 0.020
"""Seconds of the shortest stall: what a person begins to notice."""
OVER_QUICKEST = 2.0
"""A stall lasts at least this many times the quickest echo: keys to a distant host are always under way."""
FEWEST_USERS = 3
"""Fewest users in a stall: two may be slow by chance. Their keys were sent before its middle, which proves that the
driver was awake: one that sleeps itself sends what was due meanwhile when it wakes, at the end of the stretch."""


@dataclass(frozen=True, slots=True)
class Stall:
    """A stretch without an echo; both instants are seconds of the run."""

    begin: float
    end: float
    users: int
    """Users whose keys waited at its end."""

    @property
    def length(self) -> float:
        return self.end - self.begin


def read_stalls(recorded: Recorded, times: StepTimes, apart: Container[str], quickest: float | None) -> Stalls | None:
    """Sum up the stalls in an interval, by the keys of all groups but those `apart`; None without a log of keys."""
    if not has_key_log(recorded):
        return None
    keys = (key for key in read_keys(recorded) if times.settled <= key.shown < times.end and key.group not in apart)
    return sum_up_stalls(keys, quickest)


def sum_up_stalls(keys: Iterable[Key], quickest: float | None) -> Stalls:
    """Sum up the stalls among keys that were shown, given the quickest echo."""
    stalls = list(find_stalls(keys, max(SHORTEST_STALL, OVER_QUICKEST * (quickest or 0.0))))
    longest = max(stalls, key=lambda stall: stall.length, default=Stall(0.0, 0.0, 0))
    return Stalls(len(stalls), longest.length, longest.users, sum(stall.length for stall in stalls))


def find_stalls(keys: Iterable[Key], least: float) -> Iterator[Stall]:
    """Find the stretches of at least `least` seconds, in order of time."""
    by_echo = sorted(keys, key=lambda key: key.shown)
    by_sending = iter(sorted(by_echo, key=lambda key: key.sent))
    next_sent, waiting, last = next(by_sending, None), set[Key](), 0.0
    for key in by_echo:
        while next_sent and next_sent.sent < key.shown:
            waiting.add(next_sent)
            next_sent = next(by_sending, None)
        if key.shown - last >= least and (stall := measure_stall(waiting, last, key.shown)).length >= least:
            middle = (stall.begin + stall.end) / 2
            if len({each.user for each in waiting if each.sent < middle}) >= FEWEST_USERS:
                yield stall
        waiting.discard(key)
        last = key.shown


def measure_stall(waiting: set[Key], last: float, end: float) -> Stall:
    """The stretch from the last echo, or the first key after it, to the next echo."""
    begin = max(last, min((key.sent for key in waiting), default=end))
    return Stall(begin, end, len({key.user for key in waiting}))
