"""Plays whole searches: asks, makes the trial that was asked for, asks again."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from cuesta.analysis.search import Method, Outcome, Trial, Try, replay
from tests.analysis.search.closed_host import ClosedHost

Measure = Callable[[int, Try], Trial]
"""Makes a trial: its number, and what was asked."""

BY_USERS = Method("regression", lowest=1, highest=1000, start=4, whole=True)
AS_PLAYED = replace(BY_USERS, tries_again=True)
"""As `cuesta search` does it."""
RUN_NOISE = 0.03
"""All of a trial's service times vary together by so much, as from run to run on a machine."""


def trial(number: int, load: float, excess: float | None, *, against: Sequence[str] = (), **more: object) -> Trial:
    met = excess is not None and excess <= 0 and not against
    given = {
        "doubts": [],
        "is_driver_limit": False,
        "settled": True,
        "seconds": 300.0,
        "failed_outright": bool(against),
    } | more
    return Trial(number, load, excess, met, list(against), **given)  # type: ignore[arg-type]


def late(number: int, load: float) -> Trial:
    return trial(number, load, -1.0, doubts=["the driver was late"], is_driver_limit=True)


def silent(number: int, load: float) -> Trial:
    return trial(number, load, None, against=["no transaction ended"], answers="none")


def refused(number: int, load: float, excess: float = -0.5) -> Trial:
    return trial(number, load, excess, against=["refused"])


def has(outcome: Outcome, truth: float) -> bool:
    """Whether both ends of the interval are known, and it has this limit."""
    low, high = outcome.interval
    return low is not None and high is not None and low <= truth <= high


def search(measure: Measure, method: Method, most: int = 200) -> tuple[list[Trial], Outcome]:
    """Search to the end, which must come before `most` trials."""
    trials: list[Trial] = []
    while isinstance(ask := replay(trials, method).next, Try):
        assert len(trials) < most
        trials.append(measure(len(trials), ask))
    return trials, ask


def at(host: ClosedHost, limit: float, seed: int, measured: float = 300.0) -> Measure:
    """Trials at a simulated host, each with its own noise."""

    def measure(number: int, ask: Try) -> Trial:
        rng = random.Random(f"{seed} {number}")
        pace = math.exp(rng.gauss(0, RUN_NOISE))
        p95 = host.p95(int(ask.load), rng.getrandbits(32), 60.0, measured, pace)
        return trial(number, ask.load, math.log(p95 / limit))

    return measure
