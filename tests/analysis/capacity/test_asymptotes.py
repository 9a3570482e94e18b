"""The two asymptotes of a sweep."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cuesta.analysis.capacity.asymptotes import Asymptotes, bound_by_cycle, derive_asymptotes
from cuesta.analysis.summary import summarise
from cuesta.report.plots.against_users import LIGHT_LOAD_BOUND, plot_sweeps
from cuesta.report.sweep import describe_saturation, list_contradictions
from tests.report.made_up import host_row
from tests.run_folder import RunFolder, edit_run

TICK = 0.1
Steps = Mapping[int, tuple[float, Sequence[int]]]
"""For each number of users: how busy the server was, and the transactions of each second."""
FEW = [9, 8, 7, 10, 9, 8, 9, 10, 7, 9]
MANY = [11, 10, 12, 11, 9, 13, 11, 12, 10, 11]
"""Short steps of one saturated server of 10/s: 8.6/s and 11.0/s."""


def sweep_two_loads(path: Path, busy: float, load: str = "closed") -> Asymptotes:
    """Sweep 2 and 8 users; the host's only server is `busy` in the first step and twice as busy in the second."""
    return host_of(path, {2: (busy, [1] * 10), 8: (2 * busy, [2] * 10)}, load)


def host_of(path: Path, steps: Steps, load: str = "closed") -> Asymptotes:
    """Sweep a host; each step gives the users, how busy the server is, and the transactions of each second."""
    done = [each for _, each in steps.values()]
    length = len(done[0])
    folder = RunFolder(
        path,
        users=tuple(steps),
        settle=2,
        measure=length,
        load=load,
        responses=lambda step, _, second: [TICK] * done[step][second],
    ).write()
    (folder / "host").mkdir()
    rows = [host_row(second) for second in range(len(steps) * (length + 2))]
    busy = [share for share, _ in steps.values()]
    for second, row in enumerate(rows):
        row["servers"]["busy"] = busy[second // (length + 2)]
    (folder / "host" / "series.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return derive_asymptotes(summarise(folder))


def test_light_load_comes_from_the_lightest_step(tmp_path: Path) -> None:
    found = sweep_two_loads(tmp_path / "run", 0.4).light
    assert found
    assert found.users == 2
    assert found.response == pytest.approx(TICK - 0.001)
    assert found.cycle == pytest.approx(2 / 1.0), "N/X: two users, one transaction a second"


def test_heavy_load_comes_from_the_largest_demand_at_the_busiest_step(tmp_path: Path) -> None:
    found = sweep_two_loads(tmp_path / "run", 0.4)
    assert found.heavy
    assert (found.heavy.resource, found.heavy.users) == ("the built-in host's servers", (8,))
    assert found.heavy.demand == pytest.approx(0.8 / 2.0), "U/X"
    assert found.crossing == pytest.approx(2.0 / 0.4)


def test_a_nearly_idle_resource_gives_no_estimate(tmp_path: Path) -> None:
    found = sweep_two_loads(tmp_path / "run", 0.1)
    assert found.heavy is None
    assert found.crossing is None
    assert (
        found.no_heavy
        == "no metered resource came near its limit: the busiest one, the built-in host's servers, was 20.0 % busy"
    )


def test_open_loads_have_no_cycle(tmp_path: Path) -> None:
    found = sweep_two_loads(tmp_path / "run", 0.4, "open:2/s")
    assert found.light is None
    assert "closed load" in found.no_light


def test_the_line_is_fitted_to_all_saturated_steps(tmp_path: Path) -> None:
    """A step of ten seconds alone puts the line below the throughput of the next step; both together do not."""
    found = host_of(tmp_path / "run", {1: (0.1, [1] * 10), 16: (1.0, FEW), 32: (1.0, MANY)})
    assert found.heavy
    assert found.heavy.users == (16, 32)
    assert 1 / found.heavy.demand == pytest.approx((8.6 + 11.0) / 2)
    low, high = found.heavy.rate_interval
    assert low < 8.9
    assert high > 11.0, "chance explains such a difference in so few seconds"
    assert [(each.users, each.per_s, each.is_chance) for each in found.above if each.line == "heavy"] == [
        (32, 11.0, True)
    ]
    assert not found.contradicted


def test_longer_steps_give_a_narrower_line(tmp_path: Path) -> None:
    widths = []
    for times in (1, 9):
        steps = {1: (0.1, [1] * 10 * times), 16: (1.0, FEW * times), 32: (1.0, MANY * times)}
        heavy = host_of(tmp_path / f"run-{times}", steps).heavy
        assert heavy
        low, high = heavy.rate_interval
        widths.append(high / low - 1)
    assert 2 < widths[0] / widths[1] < 5, "nine times the length gives about a third of the error"


def test_a_difference_beyond_chance_is_a_contradiction(tmp_path: Path) -> None:
    """The server is always busy in both steps and completes twice as much in the second: no single demand fits both."""
    found = host_of(tmp_path / "run", {1: (0.1, [1] * 60), 16: (1.0, [10, 12] * 30), 32: (0.8, [20, 22] * 30)})
    (above,) = (each for each in found.above if each.line == "heavy")
    assert (above.users, above.per_s, above.is_chance) == (32, 21.0, False)
    assert found.contradicted
    assert found.crossing is None, "the crossing of contradicted lines means nothing"
    said = " ".join(list_contradictions(found))
    assert said.startswith("CONTRADICTION: 21.0/s was measured with 32 users, and the ceiling is 11.0/s")
    assert list(describe_saturation(found)) == []


def test_the_line_of_users_who_never_wait_takes_their_own_pace(tmp_path: Path) -> None:
    """Four users think a third as long as two: they may do six times as much, and no line says otherwise."""
    found = host_of(tmp_path / "run", {2: (0.1, [1] * 60), 4: (0.2, [6] * 60)})
    assert not found.contradicted
    run = summarise(tmp_path / "run")
    assert found.light
    assert [bound_by_cycle(step, found.light) for step in run.steps] == pytest.approx([1.0, 6.0], rel=1e-3)
    line = next(each for each in plot_sweeps(run) if each.title.startswith("Throughput"))
    layer = next(each for each in line.spec["layer"] if each["mark"]["type"] == "line")
    drawn = [row for row in layer["data"]["values"] if row["s"] == LIGHT_LOAD_BOUND]
    assert [(row["x"], row["y"]) for row in drawn] == [(0, 0.0), (2, pytest.approx(1.0)), (4, pytest.approx(6.0))]


def test_a_response_below_the_light_load_is_a_contradiction(tmp_path: Path) -> None:
    times = ([0.5], [0.05] * 6)
    folder = RunFolder(tmp_path / "run", users=(2, 4), measure=60, responses=lambda step, _agent, _second: times[step])
    found = derive_asymptotes(summarise(folder.write()))
    assert [(each.line, each.users, each.is_chance) for each in found.above] == [("light", 4, False)]


def test_sweeps_of_more_than_users_have_no_lines(tmp_path: Path) -> None:
    """Each value of another swept setting makes another system."""
    folder = RunFolder(tmp_path / "run", users=(2, 4), measure=5).write()
    with edit_run(folder) as run:
        for number, step in enumerate(run["steps"]):
            step["swept"] = {"users": 2 + 2 * number, "host.servers": 1 + number}
    found = derive_asymptotes(summarise(folder))
    assert (found.light, found.heavy) == (None, None)
    assert "host.servers" in found.no_light
    assert "host.servers" in found.no_heavy
