"""Plays both versions once before the first pair: can they be typed at, and how long must a run be?

This first run of each version counts for nothing. It warms caches, it shows a program that cannot be typed at, and from
it follow the lengths of all other runs: long enough to begin after the start of the program, and to time KEYS keys.
"""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from cuesta._native import Histogram
from cuesta.columns import cut
from cuesta.engine.console import Console
from cuesta.plain_text import plain
from cuesta.records.observation import Observation
from cuesta.units import many

KEYS = 40
"""Timed keys of a run, if as many pairs fit as are wanted."""
FEWEST_KEYS = 20
"""Timed keys of a run where more would leave too few pairs; of fewer, the slowest in twenty is none."""
ENOUGH = 30
"""Timed keys of a rehearsal."""
LONGEST = 40.0
"""Seconds after which a rehearsal ends; the program may take so long to start."""
SILENT = 20.0
"""Seconds after which a rehearsal ends if keys were typed and nothing was timed."""
QUICK = 0.06
"""Seconds of an echo up to which the keys of the tape `typing`, ten a second, do not queue."""
BUSY = 0.6
"""The share of the time that a slower program may take for its echoes."""
TYPING = 0.7
"""The share of the time of that tape in which keys are typed that are timed."""
FEWEST_SHARE = 0.1
"""The share of the keys that must be timed. Keys such as Enter show nothing, and a terminal echoes some keys by itself
while the program is still starting."""
MOST_SHOWN = 60
"""Most columns of a row of the screen that are shown."""
FAILURES = 3
"""This number of failures ends a rehearsal in which no key was timed."""


@dataclass
class Rehearsal:
    """Watches a run, and stops it when it has seen enough."""

    console: Console
    """Its `stop` is set by the user, who wants the whole comparison to end."""
    enough: threading.Event = field(default_factory=threading.Event)
    counts: dict[float, int] = field(default_factory=dict)
    """By the second at which an interval ended: how many keys were timed in it."""
    echoes: dict[float, Histogram] = field(default_factory=dict)
    """As `counts`: their times."""
    keys: dict[float, int] = field(default_factory=dict)
    """As `counts`: how many keys were typed."""
    row: str = ""
    """The cursor's row where users have waited for long."""
    overhead: float = 0.0
    """Seconds that the run took besides."""
    obstacle: str | None = None
    """Why nothing can be measured at this version; None if something was."""

    def __call__(self, seen: Observation) -> None:
        self.console.observer(seen)
        for each in seen.snapshots:
            histogram = each.echo or each.response
            self.counts[each.seconds] = Histogram.decode(histogram).count if histogram else 0
            if each.echo:
                self.echoes[each.seconds] = Histogram.decode(each.echo)
            self.keys[each.seconds] = each.keys
            self.row = (each.long_wait and each.long_wait.row) or self.row
        timed, typed = sum(self.counts.values()), sum(self.keys.values())
        is_silent = typed and self.seconds >= SILENT
        has_failed = is_silent or sum(each.errors for each in seen.snapshots) >= FAILURES
        is_hopeless = has_failed and timed <= FEWEST_SHARE * typed
        if timed >= ENOUGH or is_hopeless or self.seconds >= LONGEST or self.console.stop.is_set():
            self.enough.set()

    @property
    def seconds(self) -> float:
        return max(self.counts, default=0.0)

    def explain_nothing(self) -> str | None:
        """Why nothing was timed; None if something was."""
        timed, typed = sum(self.counts.values()), sum(self.keys.values())
        if timed > FEWEST_SHARE * typed:
            return None
        shows = f"; its screen shows `{cut(plain(self.row), MOST_SHOWN)}`" if self.row else ""
        if not typed:
            return f"it was not ready to be typed at within {self.seconds:.0f} s{shows}"
        how_many = f"only {timed}" if timed else "none"
        advice = "give a tape that goes to where text is typed: --tape"
        return f"nothing echoed: {many(typed, 'key')} were typed, and {how_many} appeared{shows}; {advice}"

    @property
    def began(self) -> float:
        """The second in which the first key was timed."""
        return min((at for at, count in self.counts.items() if count), default=0.0)

    @property
    def per_second(self) -> float:
        """Timed keys a second, without the interval in which the first came, which may have begun before."""
        later = [count for at, count in self.counts.items() if at > self.began]
        return sum(later) / len(later) if any(later) else 0.0

    @property
    def unhindered(self) -> float:
        """Seconds of an echo that no key before it delayed: the quickest tenth."""
        together = Histogram.sum([*self.echoes.values()])
        return together.quantile(0.1) if together else 0.0


def choose_key_rate(rehearsals: Sequence[Rehearsal]) -> float | None:
    """Keys a second so that keys do not queue behind each other's echoes; None if the program is quick enough.

    A queue would show a small difference several times as large.
    """
    slowest = max(each.unhindered for each in rehearsals)
    return round(BUSY / slowest, 1) if slowest > QUICK else None


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long the runs of a comparison are, and how many pairs fit. Seconds."""

    settle: float
    measure: float
    pair: float
    pairs: int


def choose_lengths(
    rehearsals: Sequence[Rehearsal], left: float, wanted_pairs: int, key_rate: float | None = None
) -> Lengths:
    """Choose lengths so that `wanted_pairs` fit into the seconds `left`, if runs can be short enough for it.

    `key_rate` is that of the runs, if it is not that of the rehearsals.
    """
    overhead = max(each.overhead for each in rehearsals)
    settle = max(each.began for each in rehearsals)
    rate = min(each.per_second for each in rehearsals) or 1.0
    if key_rate is not None:
        rate = min(rate, TYPING * key_rate)
    room = left / (2 * wanted_pairs) - overhead - settle
    measure = math.floor(10 * max(min(KEYS / rate, room), FEWEST_KEYS / rate, 1.0)) / 10
    pair = 2 * (overhead + settle + measure)
    return Lengths(settle, measure, pair, int(left / pair))
