"""Which form is taken of few rows, and what may be said with it."""

from dataclasses import replace

import pytest

from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.fitting import relative_error
from cuesta.analysis.predict.held_out import split_by_load
from cuesta.analysis.predict.points import Conditions, Measurements, Point
from cuesta.analysis.predict.prediction import SystemPrediction, predict
from cuesta.analysis.predict.what_if import derive_capacity
from cuesta.analysis.quantity import Quantity
from tests.analysis.predict.seeds import exact_row
from tests.analysis.solved import solve

AT = Conditions("c", 1, think=5.0, demand="c", delays=("c",))


def answer(points: list[Point], *users: int) -> SystemPrediction:
    """Fit all rows, and ask about other numbers of users."""
    (system,) = predict(Measurements("", points), points, [replace(points[0].at, users=n) for n in users]).systems
    return system


def test_a_model_with_degrees_of_freedom_left_is_chosen_before_one_that_fits_any_rows() -> None:
    """Two rows of a station of four metered servers: one server fits them with two parameters, and is wrong."""
    network = Network([Station("line", 0.1, DELAY), Station("cpu", 0.4, 4)], think=5.0)
    points = [exact_row(network, replace(AT, users=n), {"cpu": 0.1}, servers={"cpu": 4}) for n in (20, 40)]
    system = answer(points, 30)
    assert system.model.form.name == "metered stations"
    assert system.model.saturation(AT) == pytest.approx(55.0, abs=0.1)
    assert not system.saturations, "55 users are more than were measured, and nothing is left to check the model"
    assert system.figures[0].response == pytest.approx(solve(network, 30).response, rel=1e-3)


def test_three_rows_do_not_tell_a_bound_from_a_station() -> None:
    """They lie on a bound, and the best station misses the heaviest by 11 %: nothing is reported."""
    network = Network([Station("station", 0.06)], think=2.2)
    points = []
    for users in (8, 32, 48):
        rate = network.throughput_bound(users)
        at = replace(AT, users=users, think=2.2)
        points.append(Point(str(users), at, Quantity.exactly(rate), Quantity.exactly(users / rate - 2.2)))
    system = answer(points, 40, 64)
    assert system.model.form.name == "one station"
    assert [model.form.name for model in system.choice.others] == ["bound"]
    assert {figure.not_reported for figure in system.figures} == {
        "the model is off the rows with the highest load by up to 11 %, over the margin of 10 %"
    }


THRASHING = {10: 1.94, 30: 5.80, 60: 11.5, 90: 14.2, 120: 11.1, 150: 8.33}
"""Throughput by users who think 5 s: beyond 90 users the host does less and less."""


def thrashing(is_timed: bool) -> list[Point]:
    rows = []
    for users, rate in THRASHING.items():
        timed = Quantity.exactly(users / rate - 5) if is_timed else None
        rows.append(Point(str(users), replace(AT, users=users), Quantity.exactly(rate), timed))
    return rows


@pytest.mark.parametrize("is_timed", [True, False])
def test_a_model_that_misses_the_heaviest_rows_is_not_used(is_timed: bool) -> None:
    """No form has a throughput that falls so steeply. The rows themselves are shown, with their errors."""
    system = answer(thrashing(is_timed), 450, 140, 150)
    outside, inside, measured = system.figures
    off = 63 if is_timed else 34
    for figure in (outside, inside):
        assert figure.not_reported == (
            f"the model is off the rows with the highest load by up to {off} %, over the margin of 10 %"
        )
    assert measured.not_reported == ""
    assert measured.error == pytest.approx(off / 100, abs=0.006)
    found = derive_capacity(system, system.figures[0].at, [], limit=4.0)
    assert found
    assert found.saturation.not_reported.startswith("the model is off")
    assert system.saturations == [], "none is named beside it either"
    assert found.allowed
    assert found.allowed.not_reported.startswith("the model is off")


def test_a_model_that_misses_rows_that_it_was_not_fitted_to_is_not_used_outside_of_the_rows() -> None:
    """The lighter rows say at most 20 transactions a second, and the heavier ones 16.7; all together lie between."""
    points = two_stations({10: 0.05, 20: 0.05, 40: 0.05, 60: 0.05, 80: 0.06, 120: 0.06})
    assert answer(points, 300).figures[0].not_reported == "the held-out error is 11 %, over the margin of 10 %"


def two_stations(demands: dict[int, float]) -> list[Point]:
    """Rows of two stations with the same demand, metered, which is another at some numbers of users."""
    points = []
    for users, demand in demands.items():
        network = Network([Station("line", 0.1, DELAY), Station("cpu", demand), Station("disk", demand)], think=5.0)
        points.append(exact_row(network, replace(AT, users=users), {"cpu": demand, "disk": demand}))
    return points


def test_the_held_out_error_is_that_of_the_lighter_rows_alone() -> None:
    """Demands of meters too are those of the lighter rows: with the others they would be better than they are."""
    points = two_stations({10: 0.05, 20: 0.05, 40: 0.05, 60: 0.055, 80: 0.055, 120: 0.055})
    system = answer(points, 60)
    assert system.model.form.name == "metered stations"
    assert system.held_out
    light, heavy = split_by_load(points)
    assert [point.at.users for point in heavy] == [80, 120]
    alone = answer(light, 60)
    expected = [relative_error(point, alone.model.response(point.at)) for point in heavy]
    assert list(system.held_out.errors) == pytest.approx(expected)
    assert max(system.held_out.errors) == pytest.approx(0.045, abs=5e-4), "with the demands of all rows 0.018"


def test_the_highest_loads_are_those_that_ask_most_of_the_host() -> None:
    """Not those with the highest throughput: that of a host which thrashes falls."""
    assert [point.at.users for point in split_by_load(thrashing(is_timed=True))[1]] == [120, 150]
    restless = [replace(point, at=replace(point.at, think=0.1)) for point in thrashing(is_timed=True)[:1]]
    assert [point.at.think for point in split_by_load([*thrashing(is_timed=True)[:2], *restless])[1]] == [0.1]
