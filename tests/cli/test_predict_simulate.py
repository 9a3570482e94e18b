"""`cuesta predict --simulate`: percentiles beside exact theory, limits on them, seeds and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.predict.simulation import Length, Simulator
from cuesta.errors import Exit
from tests.analysis.predict.seeds import MCS, TMUX
from tests.analysis.search.known_hosts import beyond
from tests.analysis.solved import solve
from tests.cli.test_predict import DELAY_TIME, DEMAND, network, table
from tests.conftest import Cuesta, Write

ROWS = (2, 5, 10, 30)


def percentile(users: int, share: float) -> float:
    """The exact percentile of a response: the time at the one server by theory, and the delay."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        is_below = beyond(users, DEMAND, middle, 1, 2.0 + DELAY_TIME) > 1 - share
        low, high = (middle, high) if is_below else (low, middle)
    return DELAY_TIME + low


def simulated(document: dict[str, Any]) -> dict[str, Any]:
    (system,) = document["systems"]
    result: dict[str, Any] = system["simulated"]
    return result


def test_percentiles_and_means_are_those_of_exact_theory(write: Write, cuesta: Cuesta) -> None:
    rows = table(write, *ROWS)
    document = cuesta("predict", rows, "--at", "users=8,20,40", "--simulate", "--json", "-").ends().json
    (host,) = simulated(document)["hosts"]
    for figure in host["figures"]:
        users, series = figure["users"], figure["series"]["response"]
        assert figure["agrees"]
        assert figure["exact"] == pytest.approx(solve(network(), users).response, rel=0.02)
        assert figure["transactions"] == pytest.approx(50_000, rel=0.1)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            one = series[name]
            assert one["low"] < one["value"] < one["high"]
            assert one["value"] == pytest.approx(percentile(users, share), rel=0.03), (users, name)
    assert host["events"] > 3 * 100_000


def test_a_limit_on_a_percentile(write: Write, cuesta: Cuesta) -> None:
    flags = ("--at", "users=20", "--simulate", "--limit", "response.p90 < 1s", "--servers", "2")
    document = cuesta("predict", table(write, *ROWS), *flags, "--json", "-").ends().json
    now, then = simulated(document)["hosts"]
    truth = max(users for users in range(1, 60) if percentile(users, 0.9) < 1)
    (users,) = now["limits"]
    assert abs(users["users"]["value"] - truth) <= 1
    assert users["users"]["low"] <= users["users"]["value"] <= users["users"]["high"]
    assert users["reached"]["value"] < 1
    assert then["changes"] == ["the limiting station: 2 servers"]
    assert then["limits"][0]["users"]["value"] > 1.8 * truth
    assert then["figures"][0]["agrees"]
    assert document["systems"][0]["capacity"][0]["allowed"] is None


def test_as_text(write: Write, cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    flags = ("--at", "users=20", "--simulate", "--limit", "response.p95 < 10ms")
    text = cuesta("predict", table(write, *ROWS), *flags).ends().row
    for message in (
        "a plain tape: keying, one request, an exponential think time; seed 1",
        "the means agree with the exact model's",
        "response.p95 < 10ms: a single user misses it",
        "million a second",
        "services are exponential unless it has fixed ones",
    ):
        assert message in text


def test_what_is_not_simulated(write: Write, cuesta: Cuesta) -> None:
    rows, restless = table(write, *ROWS), write("restless.toml", "")
    restless.write_text(rows.read_text().replace('think = "2"', 'think = "0"'))
    no_such = "--limit response{log in}.p95 < 1s: the simulation does not show it"
    paced, untimed = ("paced: nothing says when its users type", "no think time: nothing says when its users type")
    for source, flags, message in (
        (rows, ["--at", "users=9", "--limit", "response{log in}.p95 < 1s"], no_such),
        (rows, ["--users", "1e9"], "1,000,000,000 simulated users need about"),
        (TMUX, ["--fit", "ports<=15", "--at", "ports=20"], f"a table has no tape, and the load is {paced}"),
        (restless, ["--at", "users=20"], f"a table has no tape, and the load has {untimed}"),
    ):
        text = cuesta("predict", source, *flags, "--simulate").ends(Exit.REFUSED).row
        assert f"NOT SIMULATED: {message}" in text, text


def test_a_limit_that_nothing_checks_is_not_reported(here: Path, cuesta: Cuesta) -> None:
    """One row is fitted: neither of the mean nor of a percentile may it be said how many users keep a limit."""
    flags = ("--configuration", "MR8.0", "--fit", "think=0", "--at", "think=10", "--simulate", "--json", "found.json")
    for figure in ("mean", "p95"):
        text = cuesta("predict", MCS, *flags, "--limit", f"response.{figure} < 2s").ends(Exit.REFUSED).row
        assert f"response.{figure} < 2s: NOT REPORTED: no degree of freedom is left to check the model" in text
        assert "RESULT NOT REPORTED" in text
    (one,) = simulated(json.loads((here / "found.json").read_text()))["hosts"][0]["limits"]
    assert one["not_reported"].startswith("no degree of freedom is left to check the model")
    assert (one["users"], one["reached"]) == (None, None)


def test_a_load_whose_response_is_left_open_is_not_simulated(write: Write, cuesta: Cuesta) -> None:
    """Throughputs of two digits tell the cycle of users, but not their response."""
    path = table(write, *ROWS)
    rows = "\n".join(f'r{n} = [{n}, "{n / 10.3:.2g}", "0.001"]' for n in (2, 5, 10, 20))
    head, tail = path.read_text().split("[table.rows.rows]")
    path.write_text(f"{head}[table.rows.rows]\n{rows}\n{tail[tail.index('[[points]]') :]}".replace('"2"', '"10"'))
    document = cuesta("predict", path, "--simulate", "--json", "-").ends(Exit.REFUSED).json
    open_ones = [each["users"] for each in document["systems"][0]["figures"] if each["response"] is None]
    assert open_ones == [2, 5, 10, 20]
    assert simulated(document)["hosts"] == []
    assert simulated(document)["refused"] == ["2, 5, 10, 20 users: the band of their response is too wide"]


def test_a_mean_that_contradicts_exact_theory_is_no_answer(
    write: Write, cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as chance allows; here it allows nothing."""
    monkeypatch.setattr("cuesta.analysis.predict.simulation.DISAGREES", 0.0)
    monkeypatch.setattr("cuesta.analysis.predict.simulation.NEGLIGIBLE", 0.0)
    text = cuesta("predict", table(write, *ROWS), "--at", "users=20", "--simulate").ends(Exit.REFUSED).row
    assert "RESULT NOT SIMULATED: the simulation disagrees with the exact model" in text
    assert "DISAGREES with the exact model's mean at 20 users" in text


def test_too_many_users_for_intervals(write: Write, cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where batches are too short for the interval of a mean, none is printed, and no agreement is claimed."""
    monkeypatch.setattr(Simulator.simulate, "__defaults__", (Length(100, 1_000),))
    monkeypatch.setattr("cuesta.analysis.predict.simulated_limit.TRIAL", Length(100, 1_000))
    asked = ("predict", table(write, *ROWS), "--at", "users=9,40", "--simulate", "--limit", "response.p90 < 1s")
    (host,) = simulated(cuesta(*asked, "--json", "-").ends().json)["hosts"]
    few, many = host["figures"]
    assert few["agrees"] is True
    assert many["agrees"] is None
    for each in (many["mean"], many["series"]["response"]["p95"], host["limits"][0]["users"]):
        assert each["value"] > 0
        assert (each["low"], each["high"]) == (None, None)
    text = cuesta(*asked).row
    assert "no intervals, and no agreement to be judged, at 40 users" in text
    assert "(no interval) users; the figure is then" in text
