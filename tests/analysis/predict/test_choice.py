"""Which form is taken of few rows, and what may be said with it."""

from dataclasses import replace

import pytest

from cuesta.analysis.history.quantity import Quantity
from cuesta.analysis.models import asymptotic_bounds, closed
from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.points import Conditions, Measurements, Point
from cuesta.analysis.predict.prediction import UNCHECKED, SystemPrediction, predict

AT = Conditions("c", 1, think=5.0, demand="c", delays=("c",))


def answer(points: list[Point], *users: int) -> SystemPrediction:
    """Fit all rows, and ask about other numbers of users."""
    (system,) = predict(Measurements("", points), points, [replace(points[0].at, users=n) for n in users]).systems
    return system


def test_a_form_that_leaves_a_row_over_is_taken_before_one_that_meets_any_rows() -> None:
    """Two rows of a station of four metered servers: one server fits them with two parameters, and is wrong."""
    network = Network([Station("line", 0.1, DELAY), Station("cpu", 0.4, 4)], think=5.0)
    points = []
    for users in (20, 40):
        found = closed.solve(network, users)
        busy = {"cpu": Quantity.exactly(found.throughput * 0.1)}
        rate, response = Quantity.exactly(found.throughput), Quantity.exactly(found.response)
        points.append(Point(str(users), replace(AT, users=users), rate, response, busy, {"cpu": 4}))
    system = answer(points, 30)
    assert system.model.form.name == "metered stations"
    (modelled,) = [each for each in system.saturations if each.by == "the model"]
    assert modelled.users == pytest.approx(55.0, abs=0.1)
    assert system.figures[0].response == pytest.approx(closed.solve(network, 30).response, rel=1e-3)


def test_three_rows_do_not_tell_a_bound_from_a_station() -> None:
    """They lie on a bound. The model is a station, and outside of the rows nothing is reported."""
    network = Network([Station("station", 0.06)], think=2.2)
    points = []
    for users in (8, 32, 48):
        rate = asymptotic_bounds.bounds(network, users).most_throughput
        at = replace(AT, users=users, think=2.2)
        points.append(Point(str(users), at, Quantity.exactly(rate), Quantity.exactly(users / rate - 2.2)))
    system = answer(points, 40, 64)
    inside, outside = system.figures
    assert system.model.form.name == "one station"
    assert [model.form.name for model in system.choice.others] == ["bound"]
    assert inside.is_disputed
    assert outside.not_reported == UNCHECKED
