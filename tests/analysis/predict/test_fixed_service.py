"""Hosts whose services are known to be fixed: users wait half as long, and the host saturates sooner than it seems."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.analysis.history.table_points import read_table
from cuesta.analysis.models import closed
from cuesta.analysis.models.network import Network, Station
from cuesta.analysis.predict.changes import Change, apply_changes
from cuesta.analysis.predict.choice import choose_model
from cuesta.analysis.predict.fitting import FittedModel, relative_error
from cuesta.analysis.predict.from_runs import read_runs
from cuesta.analysis.predict.points import Conditions, Measurements, Point
from cuesta.analysis.predict.prediction import predict
from cuesta.analysis.predict.saturation import saturations_by_response
from cuesta.analysis.predict.simulate import run_simulations
from cuesta.analysis.predict.what_if import Answer
from cuesta.analysis.quantity import Quantity
from cuesta.target import BUILTIN_HOST
from tests.analysis.capacity.simulated import Load, write
from tests.analysis.closed_loop import closed_loop
from tests.analysis.open_loop import OpenLoad, open_loop
from tests.run_folder import edit_run

DEMAND, THINK, REST = 0.1, 2.0, 0.05
CLOSED = Conditions("", 1, think=THINK, demand="d", delays=("r",))
OPEN = Conditions("", 1, cycle=THINK, demand="d", delays=("r",))
LIGHT = (1, 4, 8, 12, 16)
HEAVY = (20, 25, 30, 60)


def users_who_think(users: int, *, is_fixed: bool = True) -> Point:
    """A long row of users who wait for answers, with the bounds of a mean that is known to 1 %."""
    found = closed_loop(random.Random(users), users, THINK, DEMAND, REST, 20_000, is_fixed=is_fixed)
    p50, p95 = (statistics.quantiles(found.responses, n=20)[each] for each in (9, 18))
    return row(replace(CLOSED, users=users), statistics.fmean(found.responses), p50=p50, p95=p95)


def users_who_do_not_wait(users: int) -> Point:
    load = OpenLoad(users / THINK, users / THINK * DEMAND, 20_000, is_exponential=False)
    seconds = open_loop(random.Random(users), load)
    mean = statistics.fmean(seconds.responses, [count for count in seconds.counts if count])
    return replace(row(replace(OPEN, users=users), REST + mean), is_fixed=True)


def row(at: Conditions, mean: float, **percentiles: float) -> Point:
    return Point(str(at.users), at, response=Quantity(0.99 * mean, mean, 1.01 * mean), percentiles=percentiles)


def fitted(points: Sequence[Point]) -> FittedModel:
    choice = choose_model(points)
    assert choice
    return choice.best


def worst(light: Sequence[Point], heavy: Sequence[Point]) -> float:
    """The largest error at rows to which the model was not fitted."""
    model = fitted(light)
    return max(abs(relative_error(each, model.response(each.at))) for each in heavy)


def test_a_user_alone_whose_responses_are_alike_tells_that_services_are_fixed() -> None:
    light, heavy = [*map(users_who_think, LIGHT)], [*map(users_who_think, HEAVY)]
    assert fitted(light).form.name == "one station, fixed service"
    assert worst(light, heavy) < 0.05
    assert [each.users for each in saturations_by_response(light)] == [pytest.approx(21.5, rel=0.02)]
    unknown = [replace(each, percentiles={}) for each in light]
    assert worst(unknown, heavy) > 0.35, "as exponential services"


def test_a_user_alone_whose_responses_vary_tells_that_they_are_not() -> None:
    rows = [users_who_think(users, is_fixed=False) for users in LIGHT]
    assert fitted(rows).form.name == "one station"


def test_users_who_do_not_wait_for_answers() -> None:
    light, heavy = [*map(users_who_do_not_wait, (2, 4, 8, 12))], [*map(users_who_do_not_wait, (15, 16, 18))]
    assert worst(light, heavy) < 0.05
    assert [each.users for each in saturations_by_response(light)] == [pytest.approx(THINK / DEMAND, rel=0.02)]
    assert worst([replace(each, is_fixed=False) for each in light], heavy) > 0.35


def test_a_table_says_that_services_are_fixed(tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    network = Network([Station("cpu", DEMAND, is_fixed=True)], THINK)
    blocks = "".join(
        f'[[points]]\nconfiguration = "c"\nusers = "{users}"\nthink = "{THINK}"\nservice = "fixed"\n'
        f'response = "{closed.response(network, users):.4f}"\n'
        for users in (4, 8, 12, 16)
    )
    table.write_text(f'title = "t"\n{blocks}')
    points = read_table(table).points
    assert fitted(points).saturation(points[0].at) == pytest.approx(21, rel=0.02)


def test_the_plan_of_the_built_in_host_says_so(tmp_path: Path) -> None:
    """Its servers are metered, and the only station."""
    loads = [Load(users=users, think=THINK, service=DEMAND, is_fixed=True) for users in (4, 8, 12, 16)]
    folder = write(tmp_path / "sweep", loads, seconds=60)
    with edit_run(folder) as run:
        run["plan"]["host"] = {"service_time": "fixed 100ms"}
        for step in run["steps"]:
            step["group"][0]["target"] = BUILTIN_HOST
    points = read_runs([folder]).points
    assert all(point.is_fixed for point in points)
    model, at = fitted(points), replace(points[0].at, users=30)
    assert model.response(at) == pytest.approx(1.0, rel=0.05)
    network = model.network(at)
    assert network
    assert [station.is_fixed for station in network.queueing] == [True]
    more = apply_changes(network, [Change("", servers=2)], {}, {})
    assert [(each.servers, each.is_fixed) for each in more.queueing] == [(2, False)], "no theory here has two of them"


def test_fixed_services_are_simulated_as_fixed() -> None:
    """The mean is that of the exact model, and no response of a user alone is longer than another."""
    points = [replace(users_who_think(users), is_fixed=True) for users in LIGHT]
    prediction = predict(Measurements("", points), points, [points[0].at, replace(CLOSED, users=15)])
    (system,) = prediction.systems
    alone, several = run_simulations(Answer(prediction, [], None, None), system, 1, lambda _: None).hosts[0].figures
    assert several.agrees
    shown = alone.series[0].percentiles
    assert shown["p99"].value == pytest.approx(shown["p50"].value, rel=0.01)
