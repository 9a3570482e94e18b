"""Doubts about agents on several nodes: clocks that drift, agents that fall silent, nodes that are late."""

from pathlib import Path

import pytest

from cuesta.analysis.step import StepRecords
from cuesta.analysis.summary import Summary, summarise
from cuesta.ledger import open_run
from tests.nodes import add_durations, drift, make_odd, reading, silence, spread
from tests.run_folder import Row, change_rows, change_run, edit_run

LATE = {"keys/lateness": [0.05] * 70}
"""5 % of an agent's keys."""


def texts(summary: Summary) -> list[str]:
    return [str(doubted) for doubted in summary.doubts]


@pytest.mark.parametrize(
    ("ppm", "said"),
    [
        ({0: 10, 1: -10, 2: 0}, []),
        ({0: 5, 1: 54, 2: -5}, ["the clock of 10.77.0.3 drifted by 3.24 ms in 60 s (54.0 ppm)"]),
        ({0: 5, 1: -54, 2: 27}, ["the clock of 10.77.0.3 drifted by 3.24 ms in 60 s (54.0 ppm) (and 10.77.0.4)"]),
        (
            {0: 50, 1: 54, 2: 45},
            ["the engine's clock drifted by 3.24 ms in 60 s (54.0 ppm) against those of all nodes"],
        ),
    ],
)
def test_a_clock_that_drifts_is_named_by_its_node(tmp_path: Path, ppm: dict[int, float], said: list[str]) -> None:
    folder = spread(tmp_path / "run", notes=drift(ppm))
    assert texts(summarise(folder)) == said
    change_run(folder, plan={"validity": {"clock_drift": "4ms"}})
    assert texts(summarise(folder)) == []


def test_a_drift_within_the_errors_of_the_readings_is_none(tmp_path: Path) -> None:
    notes = [reading(1, 30, 1500, error_us=600), reading(1, 60, 200)]
    clocks = [agent.clock for agent in summarise(spread(tmp_path / "within", notes=notes)).last.agents]
    assert clocks[0] is None
    assert clocks[1] is not None
    assert (clocks[1].moved, clocks[1].error, clocks[1].seconds) == (0.0015, 0.00062, 30.0)
    beyond = spread(tmp_path / "beyond", notes=[reading(1, 30, 1700, error_us=600), reading(1, 60, 200)])
    assert texts(summarise(beyond)) == ["the clock of 10.77.0.3 drifted by 1.70 ms in 30 s (56.7 ppm)"]


def test_in_a_search_each_trial_has_the_drift_of_its_own_time(tmp_path: Path) -> None:
    """A search converts the instants of each trial by the newest reading."""
    made: Row = {"users": (3, 3, 3), "settle": 5, "measure": 25}
    folder = spread(tmp_path / "run", notes=drift({1: 30}, until=90), **made)
    assert [each.step for each in summarise(folder).doubts] == [1, 2]
    with edit_run(folder) as run:
        run["search"] = {"method": {}}
    clocks = [StepRecords(open_run(folder), step).figures().agents[1].clock for step in range(3)]
    assert [clock and clock.moved for clock in clocks] == [0.0009, 0.0009, 0.0009]


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        ([silence(1, 40, 2.1)], "10.77.0.3 said nothing for 2.10 s"),
        ([silence(1, 9, 3), silence(2, 31, 2), silence(1, 40, 2)], "10.77.0.3 said nothing for 3.00 s (and 10.77.0.4)"),
        ([silence(1, 63, 2)], None),
    ],
)
def test_an_agent_that_said_nothing_is_named_by_its_node(tmp_path: Path, notes: list[Row], said: str | None) -> None:
    assert texts(summarise(spread(tmp_path / "run", notes=notes))) == [said] * bool(said)


def test_agents_are_named_by_number_on_the_engines_machine_and_where_several_share_a_node(tmp_path: Path) -> None:
    here = spread(tmp_path / "here", [None, None], [silence(1, 40, 2)])
    assert texts(summarise(here)) == ["agent 1 said nothing for 2.00 s"]
    shared = spread(tmp_path / "shared", ["driver2", "driver2"], [silence(1, 40, 2)])
    assert texts(summarise(shared)) == ["agent 1 on driver2 said nothing for 2.00 s"]


def test_a_node_that_is_late_is_not_hidden_by_the_keys_of_the_others(tmp_path: Path) -> None:
    nodes = [f"10.77.0.{number}" for number in range(1, 9)]
    folder = spread(tmp_path / "one", nodes)
    add_durations(folder, 4, LATE)
    summary = summarise(folder)
    assert summary.last.lateness.p99 < 0.01  # type: ignore[operator]
    said = "10.77.0.5 was late: 1 % of its keys were sent more than 50.0 ms after they could be (allowed 10.0 ms)"
    assert texts(summary) == [said]
    for agent in range(1, 4):
        add_durations(folder, agent, LATE)
    assert [each.doubt.name for each in summarise(folder).doubts] == ["late_node", "late"]
    add_durations(folder, 0, LATE)
    assert [each.doubt.name for each in summarise(folder).doubts] == ["late"]


def test_a_busy_node_is_named(tmp_path: Path) -> None:
    folder = spread(tmp_path / "run")
    change_rows(folder / "agent-2" / "series.jsonl", lambda row: row | {"cpu": 0.97, "run_wait": 0.5})
    assert texts(summarise(folder)) == [
        "the driver was busy on 10.77.0.4: 97.0 % of its cores (allowed 80.0 %)",
        "the driver waited for a CPU on 10.77.0.4 50.0 % of the time (allowed 10.0 %)",
    ]


def test_one_odd_node_of_eight_is_told_and_the_run_stays_valid(tmp_path: Path) -> None:
    summary = summarise(make_odd(tmp_path / "run"))
    assert [(odd.node, odd.figure) for odd in summary.last.odd_nodes] == [
        ("10.77.0.5", "echo"),
        ("10.77.0.3", "cpu_per_key"),
    ]
    assert texts(summary) == []
    (echo, cost), agents = summary.json()["odd_nodes"], summary.json()["agents"]
    assert (echo["group"], echo["transaction"], cost["group"]) == ("interactive", None, None)
    assert (echo["value"], echo["others"]) == pytest.approx((0.012, 0.007), rel=0.1)
    assert [agent["node"] for agent in agents][:2] == ["10.77.0.1", "10.77.0.2"]


def test_alike_nodes_and_agents_of_one_machine_have_no_odd_one(tmp_path: Path) -> None:
    assert summarise(make_odd(tmp_path / "alike", echo=0.007, cpu=0.01)).last.odd_nodes == []
    assert summarise(make_odd(tmp_path / "here", [None] * 8)).last.odd_nodes == []


@pytest.mark.parametrize(("failing", "found"), [(2, []), (6, ["10.77.0.5"]), (12, ["10.77.0.5"])])
def test_a_node_whose_users_fail_though_others_do_not_is_odd(tmp_path: Path, failing: int, found: list[str]) -> None:
    """Beside one failing user of each other node."""
    folder = make_odd(tmp_path / "run", echo=0.007, cpu=0.01)
    for agent in range(8):
        change_rows(
            folder / f"agent-{agent}" / "users.jsonl",
            lambda row: row | {"unanswered": row["user"] // 8 < (failing if row["user"] % 8 == 4 else 1)},
        )
    odd = summarise(folder).last.odd_nodes
    assert [each.node for each in odd] == found
    assert all((each.figure, each.value, each.others) == ("failing_users", failing / 12, 1 / 12) for each in odd)
