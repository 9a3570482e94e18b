"""Changes of a fitted model."""

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cuesta.analysis.history.table_points import read_table
from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.band import band
from cuesta.analysis.predict.changes import Change, apply_changes, largest_population
from cuesta.analysis.predict.fitting import FittedModel
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.points import Conditions, Point
from cuesta.analysis.predict.prediction import predict
from cuesta.analysis.predict.what_if import predict_changed_loads
from cuesta.analysis.quantity import Quantity
from cuesta.cli import main
from cuesta.errors import Exit
from tests.analysis.predict.seeds import MCS, TMUX, fitted
from tests.analysis.solved import solve

SATURATED = ("--configuration", "MR8.0", "--fit", "think=0")
TABLE = """
title = "A host of four servers"
[table.t]
columns = ["users", "rate", "busy"]
[table.t.rows]
{rows}

[[points]]
configuration = ""
users = "t.{{row}}.users"
think = "5"
throughput = "t.{{row}}.rate"
utilization = {{ cpu = "t.{{row}}.busy" }}
servers = {{ cpu = 4 }}
[[identity]]
formula = "t.{{row}}.users >= 1"
"""


@pytest.mark.parametrize(("table", "configurations"), [(MCS, 4), (TMUX, 1)])
def test_a_change_of_nothing_changes_nothing(table: Path, configurations: int) -> None:
    """Whatever form fits: a station, a bound or a paced station."""
    measurements = read_table(table)
    for name in measurements.configurations[:configurations]:
        points = [point for point in measurements.points if point.at.configuration == name]
        (system,) = predict(measurements, points, [point.at for point in points]).systems
        found = predict_changed_loads(system, [Change("", factor=1.0)])
        responses = [figure.response for figure in system.figures]
        assert [each.response.value for each in found] == pytest.approx(responses, rel=1e-6)


def of_few_rows(tmp_path: Path, *users: int) -> tuple[Path, Network]:
    """A table of a station of four metered servers."""
    network = Network([Station("line", 0.1, DELAY), Station("cpu", 0.4, 4)], think=5.0)
    solved = {n: solve(network, n) for n in users}
    rows = "\n".join(f'r{n} = [{n}, "{s.throughput:.5f}", "{0.1 * s.throughput:.5f}"]' for n, s in solved.items())
    path = tmp_path / "table.toml"
    path.write_text(TABLE.format(rows=rows))
    return path, network


def predicted(path: Path, *flags: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], str]:
    """Exit code, the only system as JSON, and the text."""
    code = main(["predict", str(path), *flags, "--json", "-"])
    system = json.loads(capsys.readouterr().out)["systems"][0]
    main(["predict", str(path), *flags])
    return code, system, " ".join(capsys.readouterr().out.split())


def test_what_is_not_reported_is_not_printed_either(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two rows below saturation, and nothing that checks the model: neither its load, nor N*, nor a limit is told."""
    path, _ = of_few_rows(tmp_path, 20, 40)
    flags = ["--at", "users=120", "--servers", "8", "--limit", "response.mean < 1s"]
    code, system, text = predicted(path, *flags, capsys=capsys)
    assert code == Exit.REFUSED
    assert system["what_if"]["figures"][0]["response"] is None
    assert system["what_if"]["figures"][0]["throughput"] is None
    for capacity in (system["capacity"][0], system["what_if"]["capacity"][0]):
        assert (capacity["saturation"], capacity["allowed"], capacity["throughput"]) == (None, None, None)
    assert "response.mean < 1s: NOT REPORTED: no degree of freedom is left" in text
    assert predicted(path, "--at", "users=30", *flags[4:], capsys=capsys)[0] == Exit.REFUSED


def test_a_limit_with_changes_is_no_more_certain_than_without(capsys: pytest.CaptureFixture[str]) -> None:
    """Beyond 25 ports forms that fit all rows disagree, whatever the station then is."""
    flags = ("--at", "ports=20", "--limit", "response.mean < 100ms", "--servers", "2")
    _, system, _ = predicted(TMUX, *flags, capsys=capsys)
    now, then = ([each["allowed"] for each in found] for found in (system["capacity"], system["what_if"]["capacity"]))
    assert None in now
    assert all(after is None for before, after in zip(now, then, strict=True) if before is None)


def test_servers_are_those_that_were_metered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever form fits: of four servers, two are half as many."""
    path, network = of_few_rows(tmp_path, 5, 10, 20, 40, 60, 80, 100)
    _, system, text = predicted(path, "--servers", "2", "--at", "users=50", capsys=capsys)
    assert system["what_if"]["capacity"][0]["throughput"] == pytest.approx(network.most_throughput / 2, rel=0.02)
    assert "the limiting station: 2 servers instead of 4" in text


def test_forms_may_disagree_on_a_response_and_agree_on_a_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Light rows have few digits. At the limit forms differ by over a tenth of R, but not of a cycle of 5.6 s."""
    network = Network([Station("line", 0.1, DELAY), Station("cpu", 0.4, 16)], think=5.0)
    solved = {n: solve(network, n) for n in (20, 50, 100, 150, 200)}
    rows = [
        f'r{n} = [{n}, "{s.throughput:.5g}", "{s.throughput / 40:.4g}", "{round(s.response, 4):g}"]'
        for n, s in solved.items()
    ]
    path = tmp_path / "table.toml"
    text = TABLE.format(rows="\n".join(rows)).replace('"busy"]', '"busy", "response"]')
    path.write_text(text.replace("servers = { cpu = 4 }", 'response = "t.{row}.response"\nservers = { cpu = 16 }'))
    code, system, _ = predicted(path, "--at", "users=150", "--limit", "response.mean < 620ms", capsys=capsys)
    users = int(system["capacity"][0]["allowed"]["value"])
    assert solve(network, users - 3).response < 0.62 < solve(network, users + 3).response
    assert code == Exit.GOOD


def test_a_station_that_looks_like_one_server_was_metered_as_several() -> None:
    """Each of the servers then counts as a part of the one; a demand is that at one of them."""
    one = Network([Station("station", 0.025)], think=2.0)
    two = apply_changes(one, [Change("", servers=2)], {"station": "station"}, {"station": 4})
    assert two.most_throughput == pytest.approx(20.0)
    slower = apply_changes(one, [Change("", demand=0.2)], {"station": "station"}, {"station": 4})
    assert slower.most_throughput == pytest.approx(20.0)


def test_as_many_parameters_as_rows_have_no_band(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, text = predicted(MCS, *SATURATED, "--at", "think=3", capsys=capsys)
    assert "by rounding: as many parameters as rows" in text
    assert "from all rows, those that were held out too" in text


def test_a_limit_that_rows_leave_open_is_left_open_soon() -> None:
    """Rows of a few seconds allow any demand down to none, with which the limit would allow any number of users."""
    at = Conditions("", 1, think=0.97, keying=1.26, demand="cpu", delays=("rest",))
    timed = {8: (0.061, 0.070, 0.078), 16: (0.011, 0.075, 0.139), 32: (0.003, 0.257, 0.722)}
    rows = [Point(str(n), replace(at, users=n), response=Quantity(*bounds)) for n, bounds in timed.items()]
    model = fitted(OneStation(), rows)
    evaluated = []

    def most(each: FittedModel) -> float:
        evaluated.append(each)
        network = each.network(at)
        assert network
        return largest_population(apply_changes(network, [Change("", servers=2)], {}, {}), at, 1.0, is_bound=False)

    assert band(model, most).high == math.inf
    assert max(most(each) for each in evaluated[:]) < 1e6


STATIONS = st.lists(st.tuples(st.floats(1e-3, 0.5), st.integers(1, 5)), min_size=1, max_size=3)
OWN = st.floats(0.0, 10.0)
MOST_EXACT = 1000
"""An example of the property test has some sixty limits. By the exact model one near 15,000 users takes 3 s."""


def never_falls(values: list[float]) -> bool:
    """But by the rounding of floats."""
    return all(after >= before * (1 - 1e-9) for before, after in pairwise(values))


@settings(max_examples=15)
@given(stations=STATIONS, own=OWN, delay=st.floats(0.0, 1.0), slack=st.floats(1.01, 20.0), servers=st.integers(1, 8))
def test_more_servers_and_smaller_demands_never_lower_a_limit(
    stations: list[tuple[float, int]], own: float, delay: float, slack: float, servers: int
) -> None:
    """Whichever station they are of, for closed loads and for paced ones, and by the bound as well."""
    network = Network(
        [Station("line", delay, DELAY), *(Station(str(n), *each) for n, each in enumerate(stations))], think=own
    )
    names = {station.name: station.name for station in network.queueing}
    closed_load, paced_load = Conditions("", 1, think=own), Conditions("", 1, cycle=own + network.least_response)
    limit = slack * network.least_response
    assume((limit + own) * network.most_throughput < MOST_EXACT)
    for at, is_bound in ((closed_load, False), (closed_load, True), (paced_load, False)):

        def most(*changes: Change) -> float:
            changed = apply_changes(network, changes, names, {})
            return largest_population(changed, at, limit, is_bound)  # noqa: B023 - it is called before the next load

        for name, (_, now) in zip(names, stations, strict=True):
            counts = sorted({now, servers, now + 1})
            by_servers = [most(Change(name, servers=count)) for count in counts]
            assert never_falls(by_servers), (at, name, counts, by_servers)
            by_demand = [most(Change(name, factor=factor)) for factor in (1.5, 1.0, 0.8, 0.3)]
            assert never_falls(by_demand), (at, name, by_demand)
