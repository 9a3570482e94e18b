"""Saturation by response and by meters."""

import math
from dataclasses import replace

import pytest

from cuesta.analysis.models import paced_station
from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.choice import choose_model
from cuesta.analysis.predict.forms.scalability import scaled_throughput
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.meters import derive_stations
from cuesta.analysis.predict.points import Conditions, Point
from cuesta.analysis.predict.saturation import find_conflicts, saturations_by_meters, saturations_by_response
from cuesta.analysis.predict.saturation import saturations_by_model as saturation_of
from cuesta.analysis.quantity import Quantity
from tests.analysis.predict.seeds import TMUX, exact_row, fitted, rows

POPULATIONS = (2, 5, 10, 20, 30, 40)


def closed_rows(demand: float, metered: float, servers: int = 1) -> list[Point]:
    """Rows of a host with one station, beside a meter of a resource with another demand."""
    network = Network([Station("line", 0.05, DELAY), Station("cpu", demand, servers)], think=2)
    loads = [Conditions("", users, think=2, demand="cpu", delays=("line",)) for users in POPULATIONS]
    return [exact_row(network, at, {"CPU": metered}) for at in loads]


def test_response_and_the_meter_of_the_limiting_station_agree() -> None:
    points = closed_rows(demand=0.1, metered=0.1)
    (response,), (meter,) = saturations_by_response(points), saturations_by_meters(points)
    assert response.users == pytest.approx((2 + 0.05 + 0.1) / 0.1, rel=1e-3)
    assert response.throughput == pytest.approx(10, rel=1e-3)
    assert meter.throughput == pytest.approx(10, rel=1e-6)
    assert not find_conflicts([response], [meter], points)


def test_a_meter_of_another_resource_is_a_conflict() -> None:
    points = closed_rows(demand=0.1, metered=0.04)
    (conflict,) = find_conflicts(saturations_by_response(points), saturations_by_meters(points), points)
    assert conflict.response.throughput == pytest.approx(10, rel=1e-3)
    assert conflict.meter.throughput == pytest.approx(25, rel=1e-6)


def test_a_metered_resource_that_is_full_is_no_unmetered_station() -> None:
    """A host that may use one of four CPUs: light rows have the meter of all of them, and full rows that of the one."""
    points = closed_rows(demand=0.1, metered=0.025)
    full = [replace(point, utilizations={"CPU 1": Quantity.exactly(0.97)}) for point in points[-2:]]
    points = [*points[:-2], *full]
    responses, meters = saturations_by_response(points), saturations_by_meters(points)
    assert [each.meter.by for each in find_conflicts(responses, meters, points[:-2])] == ["CPU"]
    assert find_conflicts(responses, meters, points) == []


def test_a_quota_of_a_part_of_a_cpu_is_no_station() -> None:
    """No model here knows how long users wait for it, and one of the other meters alone would leave it out."""
    points = closed_rows(demand=0.1, metered=0.1)
    assert [each.demand for each in derive_stations(points)["cpu"]] == [pytest.approx(0.1)]
    assert derive_stations([replace(point, servers={"CPU": 1.5}) for point in points]) == {"cpu": []}


def test_paced_rows_saturate_where_the_station_is_busy_all_the_time() -> None:
    found = {users: paced_station.response(users, 0.2, Station("station", 0.008), 0.01) for users in (5, 10, 15, 20)}
    points = [
        Point("", Conditions("", n, cycle=0.2, demand="d", delays=("r",)), response=Quantity.exactly(r))
        for n, r in found.items()
    ]
    (response,) = saturations_by_response(points)
    assert response.users == pytest.approx(25, rel=1e-3)
    assert response.throughput == pytest.approx(125, rel=1e-3)


def test_rows_that_do_not_tell_give_no_saturation_point() -> None:
    assert saturations_by_response(closed_rows(demand=0.1, metered=0.1)[:2]) == []
    assert saturations_by_response([]) == []
    assert saturations_by_meters(closed_rows(demand=0.1, metered=0.1)[:2]) == []


def test_a_station_that_is_hardly_busy_at_any_load_gives_no_saturation_point() -> None:
    """The response grows with nothing: the best demand is as small as a fit may try."""
    model = fitted(OneStation(), closed_rows(demand=0.1, metered=0.1))
    assert saturation_of(replace(model, values=[0.05, math.log(1e-10)])) == []


def test_the_station_of_1993_that_no_meter_saw() -> None:
    """The response saturates at 32.0 and 29.4 ports, and the CPU meter says 40, 50, 83 and 133."""
    points = rows(TMUX)
    found = find_conflicts(saturations_by_response(points), saturations_by_meters(points), points)
    by_name = {each.response.at.configuration: each for each in found}
    assert list(by_name) == ["telnet", "telnet+tmux", "in-kernel", "in-kernel+tmux"]
    response = [each.response.users for each in found]
    assert response == pytest.approx([32.0, 32.0, 29.4, 29.4], abs=0.05)
    assert [each.meter.users for each in found] == pytest.approx([40, 50, 83, 133], abs=0.5)
    assert {each.meter.by for each in found} == {"host CPU"}


def test_throughput_that_falls_is_no_single_station() -> None:
    """A host that loses throughput beyond 44 users; the scalability law needs six populations to say so."""
    rates = {
        n: scaled_throughput(n, contention=0.02, coherency=5e-4, efficiency=10) for n in (1, 5, 10, 20, 40, 80, 160)
    }
    points = [
        Point(str(n), Conditions("", n, demand="d", delays=("r",)), Quantity.exactly(x)) for n, x in rates.items()
    ]
    choice, of_five = choose_model(points), choose_model(points[:5])
    assert choice
    assert of_five
    assert [model.form.name for model in choice.supported] == ["scalability law"]
    asked = scaled_throughput(120, contention=0.02, coherency=5e-4, efficiency=10)
    assert choice.best.throughput(Conditions("", 120, demand="d")) == pytest.approx(asked, rel=0.01)
    assert saturation_of(choice.best) == []
    assert "scalability law" not in [each.form.name for each in (*of_five.supported, *of_five.rejected)]
