"""Searches for a rate at one server of fixed service and random arrivals (M/D/1): the interval has the capacity."""

import math
import random
import statistics
from functools import cache
from typing import NamedTuple

import pytest

from cuesta.analysis.search import Method, Outcome, Trial, Try
from tests.analysis.search.searching import search, trial

SERVICE = 0.1
WARM_UP, MEASURED = 60.0, 120.0
LONG = 40_000.0
LIMITS = (0.3, 0.6, 1.0)
"""Seconds that 95 % of responses should not exceed: with 49, 74 and 84 % of the server busy."""


class Measured(NamedTuple):
    p95: float
    left: float
    """Seconds of work that the host has left at the end."""


def serve(rate: float, seed: str, measured: float, left: float = 0.0) -> Measured:
    """Responses that end in the measured interval; `left`: seconds of work from before."""
    rng, now, free, end = random.Random(seed), 0.0, left, WARM_UP + measured
    responses = list[float]()
    while (now := now + rng.expovariate(rate)) < end:
        free = max(free, now) + SERVICE
        if WARM_UP <= free < end:
            responses.append(free - now)
    p95 = statistics.quantiles(responses, n=20)[-1] if len(responses) > 1 else measured
    return Measured(p95, max(free - end, 0.0))


@cache
def capacity(limit: float) -> float:
    low, high = 0.01 / SERVICE, 1 / SERVICE
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if serve(middle, "long", LONG).p95 <= limit else (low, middle)
    return (low + high) / 2


def search_rate(limit: float, seed: int) -> Outcome:
    def measure(number: int, ask: Try) -> Trial:
        return trial(number, ask.load, math.log(serve(ask.load, f"{seed} {number}", MEASURED).p95 / limit))

    return search(measure, Method("regression", 0.02, 1e5, 2.0, whole=False, full_length=MEASURED, tries_again=True))[1]


def share_with_capacity(limit: float, seeds: range) -> float:
    intervals = [search_rate(limit, seed).interval for seed in seeds]
    return statistics.fmean((low or math.inf) <= capacity(limit) <= (high or 0.0) for low, high in intervals)


@pytest.mark.parametrize("limit", LIMITS[-1:])
def test_intervals_of_rates_have_the_capacity(limit: float) -> None:
    assert share_with_capacity(limit, range(12)) >= 10 / 12


@pytest.mark.nightly
@pytest.mark.parametrize("limit", LIMITS)
def test_intervals_of_many_searches_have_the_capacity(limit: float) -> None:
    assert share_with_capacity(limit, range(1000, 1150)) >= 0.85
