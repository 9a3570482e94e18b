"""How often bands of 90 % hold the truth: random stations, delays, loads and errors of measurement."""

import math
import random
import statistics
from dataclasses import dataclass, replace

import pytest

from cuesta.analysis.predict.band import band
from cuesta.analysis.predict.forms.asymptote import Asymptote
from cuesta.analysis.predict.forms.form import Form
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.points import Conditions, Point
from cuesta.analysis.quantity import Quantity
from tests.analysis.predict.seeds import fitted


@dataclass(frozen=True)
class Host:
    """A host of which a form is true."""

    form: Form
    at: Conditions
    """With the number of users that is asked about."""
    delay: float
    demand: float

    def response(self, users: int) -> float:
        return self.form.response(replace(self.at, users=users), self.delay, self.demand, ())


def draw_host(rng: random.Random) -> tuple[Host, list[int]]:
    """A host, and the numbers of users with which it is measured: up to about where it saturates."""
    demand = math.exp(rng.uniform(math.log(0.005), math.log(0.5)))
    delay = rng.choice([0.0, demand * rng.uniform(0, 5)])
    pace = demand * rng.uniform(10, 60)
    is_paced = rng.random() < 0.3
    form: Form = OneStation() if is_paced or rng.random() < 0.6 else Asymptote()
    most = rng.uniform(0.6, 0.9) * pace / demand if is_paced else rng.uniform(0.6, 1.3) * (pace + delay) / demand
    steps = rng.choice([4, 5, 6])
    asked = max(round(most * rng.uniform(0.5, 1.05)), 1)
    at = Conditions("", asked, 0.0 if is_paced else pace, 0.0, pace if is_paced else None, None, "d", ("r",))
    return Host(form, at, delay, demand), sorted({max(round(most * (n + 1) / steps), 1) for n in range(steps)})


def rows(rng: random.Random, host: Host, users: list[int]) -> list[Point]:
    """Responses with errors of 1 to 5 %: of each, or of the mean of all where the load is paced."""
    error, mean, found = rng.choice([0.01, 0.02, 0.05]), statistics.fmean(map(host.response, users)), []
    for each in users:
        right = host.response(each)
        size = error * (mean if host.at.is_paced else right)
        said = max(rng.gauss(right, size), right / 10)
        timed = Quantity(max(said - 2 * size, said / 10), said, said + 2 * size)
        found.append(Point(str(each), replace(host.at, users=each), response=timed))
    return found


def holds_truth(seed: int) -> bool:
    rng = random.Random(seed)
    host, users = draw_host(rng)
    model = fitted(host.form, rows(rng, host, users))
    within, right = band(model, lambda each: each.response(host.at)), host.response(host.at.users)
    return within.low <= right * (1 + 1e-9) and right <= within.high * (1 + 1e-9)


def test_bands_hold_the_truth_as_often_as_they_say() -> None:
    """Of 60 nominal 90 % at least 51, 85 %."""
    assert sum(map(holds_truth, range(60))) >= 51


@pytest.mark.nightly
def test_bands_of_many_hosts_hold_the_truth() -> None:
    assert sum(map(holds_truth, range(1000, 1400))) >= 340
