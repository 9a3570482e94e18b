"""Predictions of simulated hosts, of which the truth is known: in virtual time, seeded."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cuesta.analysis.certainty import error_of_mean
from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.band import band
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.from_runs import with_relative_error
from cuesta.analysis.predict.points import Conditions, Measurements, Point
from cuesta.analysis.predict.prediction import WIDEST, SystemPrediction, predict
from cuesta.analysis.quantity import Quantity
from tests.analysis.closed_loop import closed_loop
from tests.analysis.predict.seeds import fitted
from tests.analysis.solved import solve

THINK, SERVICE, LINE = 5.0, 0.2, 0.3
POPULATIONS = (3, 6, 10, 14, 18, 22)
TRUTH = Network([Station("line", LINE, DELAY), Station("cpu", SERVICE)], THINK)


def conditions(users: int) -> Conditions:
    return Conditions("", users, think=THINK, demand="cpu", delays=("line",))


def rows(seed: int, service: Sequence[float] = (SERVICE,) * 6, seconds: int = 900) -> list[Point]:
    """Simulate a run for each population; the service time may be another in each."""
    rng = random.Random(seed)
    points = []
    for users, each in zip(POPULATIONS, service, strict=True):
        found = closed_loop(rng, users, THINK, each, LINE, seconds)
        rate, response = sum(found.transactions) / seconds, statistics.fmean(found.responses)
        at = replace(conditions(users), think=found.thinking / sum(found.transactions))
        points.append(Point(str(users), at, Quantity.exactly(rate), Quantity.exactly(response)))
    return points


def metered_rows(seed: int, populations: Sequence[int], seconds: int = 300) -> list[Point]:
    """Simulate a run for each population, with the standard errors that its seconds show."""
    rng, points = random.Random(seed), []
    for users in populations:
        found = closed_loop(rng, users, THINK, SERVICE, LINE, seconds)
        rate, response = sum(found.transactions) / seconds, statistics.fmean(found.responses)
        timed = with_relative_error(response, 2 * error_of_mean(found.transactions, found.response))
        points.append(Point(str(users), conditions(users), Quantity.exactly(rate), timed))
    return points


def answer(points: Sequence[Point], fit: Sequence[Point], users: int) -> SystemPrediction:
    (system,) = predict(Measurements("", points), fit, [conditions(users)]).systems
    return system


@pytest.mark.parametrize("populations", [(4, 12, 20), POPULATIONS])
@pytest.mark.parametrize("users", [16, 30])
def test_narrow_bands_hold_the_truth_as_well(populations: Sequence[int], users: int) -> None:
    """Runs of 300 s, 40 repetitions. Three rows may lie on a model by chance: that must not make its band narrow."""
    truth, at = solve(TRUTH, users).response, conditions(users)
    models = [fitted(OneStation(), metered_rows(seed, populations)) for seed in range(40)]
    bands = [band(model, lambda each: each.response(at)) for model in models]
    told = [each for each in bands if each.ratio <= WIDEST]
    assert sum(each.low <= truth <= each.high for each in told) >= 0.85 * len(told)
    assert len(told) >= 10


def test_what_is_reported_of_a_known_host_is_near() -> None:
    """Of the figures that are reported, nine in ten are within a quarter of the truth; most of ten are reported."""
    truth = solve(TRUTH, 30)
    figures = [answer(points, points, 30).figures[0] for points in map(rows, range(100, 110))]
    reported = [each for each in figures if not each.not_reported]
    near = [abs(each.throughput / truth.throughput - 1) < 0.25 for each in reported]
    assert sum(near) >= 0.9 * len(reported)
    assert len(reported) >= 7


def test_a_host_that_gives_out_beyond_a_population_shows_in_the_held_out_error() -> None:
    """Above 14 users the service takes three times as long, as with paging: lighter rows do not say so."""
    points = rows(7, (SERVICE,) * 4 + (3 * SERVICE,) * 2)
    system = answer(points, points[:4], 22)
    assert system.held_out
    assert system.held_out.mape > 0.3
    assert system.held_out.within == 0


def test_light_rows_alone_leave_the_limit_open() -> None:
    """Three and six users hardly wait: no saturation point may be claimed."""
    points = rows(11)[:2]
    system = answer(points, points, 200)
    assert system.figures[0].not_reported
    assert not [each for each in system.saturations if each.by == "response"]
