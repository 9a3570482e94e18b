"""How fast a system is in relation to a reference, over the runs of both: a ratio never stands without its interval."""

import math
from collections.abc import Sequence

from cuesta.analysis.compare.hodges_lehmann import least_runs
from cuesta.analysis.compare.verdict import CONFIDENCE, LogRatioSample, estimate
from cuesta.ledger.record import Figure, ProcessRow

LEAST = least_runs(CONFIDENCE, in_pairs=False)
"""Runs of each system that an interval takes."""
NAME, FORMULA = "Performance relative to it", "d.6 ÷ d.3; #4 ÷ #3 in 1969"


def relative(whole: Figure, own: Sequence[float], reference: Sequence[float]) -> ProcessRow:
    """Give the ratio of two times, `whole` of their means, with its exact interval over runs.

    `own` and `reference` are the times run by run. Of fewer runs than an exact interval needs there is no ratio: one
    run differs from the next of the same system by as much as nobody knows.
    """
    if whole.value is None:
        return seen(whole)
    if min(len(own), len(reference)) < LEAST:
        have = f"here are {len(own)} and of the reference {len(reference)}"
        return seen(Figure(why=f"a ratio has an interval over runs, which takes {LEAST} of each system: {have}"))
    interval = over_runs(own, reference)
    return seen(whole, interval) if interval else seen(Figure(why="a run of either system took no time"))


def over_runs(base: Sequence[float], new: Sequence[float]) -> tuple[float, float] | None:
    """Give the exact 95 % interval of new ÷ base over runs; none of fewer than LEAST each, or if a run took no time."""
    if min(len(base), len(new)) < LEAST or min(*base, *new) <= 0:
        return None
    _, interval = estimate(LogRatioSample([math.log(each) for each in base], [math.log(each) for each in new]))
    return (interval.low, interval.high) if interval else None


def seen(figure: Figure, interval: tuple[float, float] | None = None) -> ProcessRow:
    """Make the row of part d."""
    return ProcessRow(key="relative", name=NAME, unit="ratio", figure=figure, formula=FORMULA, interval=interval)
