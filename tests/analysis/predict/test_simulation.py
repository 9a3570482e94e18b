"""Simulations of run folders: their own tapes at a model whose figures are known."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.analysis.models import paced_station
from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.analysis.predict.points import Conditions, Measurements, Point
from cuesta.analysis.predict.prediction import Prediction, predict
from cuesta.analysis.predict.simulate import SimulatedSystem, prepare_simulator, run_simulations, without_users
from cuesta.analysis.predict.simulated_limit import TRIAL
from cuesta.analysis.predict.simulation import BATCH, BATCHES, WHOLE, Length
from cuesta.analysis.predict.what_if import Answer
from cuesta.analysis.quantity import Quantity
from cuesta.errors import InputError
from cuesta.figures.limit import Limit
from tests.analysis.predict.seeds import exact_row
from tests.analysis.solved import solve

SERVICE, CONSTANT, THINK = 0.05, 0.4, 3.0
USERS = (4, 15, 30, 80)
WAIT = "Enter\nWait+Bytes 1\n"
REQUEST = f"Set TypingSpeed 0ms\n{WAIT}Think exp 3s\n"
AT = Conditions("", 50, think=THINK, demand="cpu", delays=("rest",))


def write_folder(path: Path, tapes: Mapping[str, str], groups: Mapping[str, int], load: str = "closed") -> Path:
    """A run folder with nothing but its plan and its tapes."""
    (path / "tapes").mkdir(parents=True)
    for name, text in tapes.items():
        (path / "tapes" / f"{name}.tape").write_text(text)
    group = [{"name": name, "tape": f"{name}.tape", "users": users, "load": load} for name, users in groups.items()]
    files = {name: {"file": f"tapes/{name}.tape"} for name in tapes}
    run = {"format": 1, "plan": {"group": group}, "steps": [{"group": group}], "tapes": files}
    (path / "run.json").write_text(json.dumps(run))
    return path


def network() -> Network:
    return Network([Station("rest", CONSTANT, DELAY), Station("cpu", SERVICE)], THINK)


def closed_rows(folder: Path) -> list[Point]:
    return [exact_row(network(), replace(AT, users=users), recorded=(folder, 0)) for users in USERS]


def answer(points: list[Point], *asked: Conditions, limit: str | None = None) -> tuple[Prediction, SimulatedSystem]:
    prediction = predict(Measurements("", points), points, asked)
    return prediction, run_simulations(ask(prediction, limit), prediction.systems[0], 1, quiet)


def ask(prediction: Prediction, limit: str | None = None) -> Answer:
    return Answer(prediction, [], Limit.read(limit) if limit else None, None)


def quiet(users: int) -> None:
    """Progress is not shown."""


def test_the_tape_of_the_folder_is_played(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run", {"work": REQUEST}, {"work": 4})
    prediction, found = answer(closed_rows(folder), AT)
    assert not found.refused
    assert found.workloads == ["the run's own tape work"]
    (figure,) = found.hosts[0].figures
    assert figure.agrees
    assert figure.exact == pytest.approx(solve(network(), 50).response, rel=0.02)
    assert figure.at.think == pytest.approx(THINK, rel=0.02)
    (series,) = figure.series
    assert series.name == "response"
    again, other = (run_simulations(ask(prediction), prediction.systems[0], seed, quiet) for seed in (1, 2))
    assert again.hosts[0].figures[0].series == figure.series, "a seed repeats"
    assert other.hosts[0].figures[0].series != figure.series


def test_another_think_time_and_the_speed_of_lines(tmp_path: Path) -> None:
    """The time of the characters is a part of the constant that was fitted, and counts once; think times are scaled."""
    tape = 'Set LineSpeed 4800\nSet KeyRate 10cps\nType "abc"\nEnter\nWait+Bytes 144\nThink exp 1s\nThink exp 1600ms\n'
    folder = write_folder(tmp_path / "run", {"typing": tape}, {"typing": 4})
    _, found = answer(closed_rows(folder), Conditions("", 50, think=6.0, demand="cpu", delays=("rest",)))
    (figure,) = found.hosts[0].figures
    assert figure.agrees
    assert figure.at.think == pytest.approx(6.0, rel=0.02)
    assert figure.at.keying == pytest.approx(0.0, abs=0.01), "rows without keying time"
    assert figure.series[0].percentiles["p50"].value > CONSTANT


def test_groups_and_transactions_with_several_waits(tmp_path: Path) -> None:
    """A transaction's demand is that of all its waits together; each transaction has percentiles of its own."""
    tapes = {
        "clerk": REQUEST,
        "typist": f'Set TypingSpeed 0ms\nTransaction "look up"\n{2 * WAIT}End\nThink exp 3s\n',
    }
    folder = write_folder(tmp_path / "run", tapes, {"clerk": 3, "typist": 1})
    _, found = answer(closed_rows(folder), AT, limit="response{look up}.p95 < 2s")
    (host,) = found.hosts
    (figure,) = host.figures
    names = {series.name: series.count for series in figure.series}
    assert set(names) == {"response", "response{clerk}", "response{look up}"}
    assert 3 < names["response{clerk}"] / names["response{look up}"] < 4, "a typist waits twice"
    assert sum(names.values()) == 2 * names["response"]
    assert host.limits[0].users.value > 20


def test_paced_keys(tmp_path: Path) -> None:
    """A tape without waits: the keys are served, and their echoes are the responses."""
    folder = write_folder(
        tmp_path / "run", {"keys": "Set Echo timed\nSet KeyLaw exp\nType a\n"}, {"keys": 4}, "paced:1s"
    )
    rows = []
    for users in (5, 40, 80):
        at = Conditions("", users, cycle=1.0, demand="cpu", delays=("rest",))
        response = paced_station.response(users, 1.0, Station("cpu", 0.01), 0.02)
        rows.append(Point(str(users), at, None, Quantity.exactly(response), recorded=(folder, 0)))
    _, found = answer(rows, Conditions("", 50, cycle=1.0, demand="cpu", delays=("rest",)))
    (figure,) = found.hosts[0].figures
    assert figure.series[0].name == "echo"
    assert figure.mean
    assert figure.mean.value == pytest.approx(figure.exact, rel=0.1)


def test_a_model_without_stations_is_refused(tmp_path: Path) -> None:
    """A response that retreats with the square of the users: the scalability law alone fits it."""
    folder = write_folder(tmp_path / "run", {"work": REQUEST}, {"work": 4})
    rows = []
    for users in (5, 10, 20, 40, 60, 80, 100):
        rate = users / (1 + 0.02 * (users - 1) + 0.0008 * users * (users - 1)) / 4
        timed = Quantity.exactly(users / rate - THINK)
        rows.append(Point("", replace(AT, users=users), Quantity.exactly(rate), timed, recorded=(folder, 0)))
    prediction, found = answer(rows, rows[3].at)
    assert prediction.systems[0].model.form.name == "scalability law"
    assert not found.hosts
    assert found.refused[0].startswith(
        "the model that fits (scalability law) has no stations where users wait by chance"
    )


def test_a_tape_that_takes_no_time_is_refused(tmp_path: Path) -> None:
    """It would be repeated forever, at one instant of virtual time."""
    folder = write_folder(tmp_path / "run", {"work": "Set TypingSpeed 0ms\nType a\n"}, {"work": 4})
    _, found = answer(closed_rows(folder), AT)
    assert found.refused == [
        "the tape cannot be simulated: tape work: a pass takes no time at all, and would be repeated forever; "
        "expected a wait, a think time, or time between its keys"
    ]
    assert not found.hosts


@pytest.mark.parametrize("length", [WHOLE, TRIAL])
@pytest.mark.parametrize("users", [1, 400, 3_000, 10_000, 60_000, 1_000_000])
def test_batches_are_long_compared_with_a_cycle(length: Length, users: int) -> None:
    """Or there are no intervals. A million users take ten cycles together at most."""
    batch = length.cycles(users) / BATCHES
    assert length.has_intervals(users) == (batch >= BATCH)
    assert length.has_intervals(users) == (users <= (50_000 if length is WHOLE else 10_000))
    assert length.cycles(users) * users >= length.transactions
    assert (length.cycles_before(users) >= 5) == (users <= length.most / 5)
    assert length.cycles(1_000_000) + length.cycles_before(1_000_000) <= 10


def test_intervals_hold_the_mean_where_the_station_is_just_saturated(tmp_path: Path) -> None:
    """1,000 users at N*, 12 seeds, nine of which hold it at least: with batches of a cycle, six in ten would."""
    users, service = 1_000, THINK / 999
    exact = Network([Station("rest", CONSTANT, DELAY), Station("cpu", service)], THINK - CONSTANT)
    folder = write_folder(tmp_path / "run", {"work": REQUEST.replace("3s", "2600ms")}, {"work": 4})
    rows = []
    for each in (200, 600, 1_000, 1_400):
        at = Conditions("", each, think=THINK - CONSTANT, demand="cpu", delays=("rest",))
        rows.append(exact_row(exact, at, recorded=(folder, 0)))
    prediction = predict(Measurements("", rows), rows, [rows[2].at])
    (system,) = prediction.systems
    figures = [
        prepare_simulator(ask(prediction), system, without_users(rows[2].at), seed).simulate(users, Length(1, 100_000))
        for seed in range(12)
    ]
    held = [each.mean.band.low <= each.exact <= each.mean.band.high for each in figures if each.mean]
    assert sum(held) >= 9


def test_a_folder_without_its_tape_is_bad_input(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run", {"work": REQUEST}, {"work": 4})
    (folder / "tapes" / "work.tape").unlink()
    with pytest.raises(InputError, match="its plan and tapes cannot be read"):
        answer(closed_rows(folder), AT)
