"""What is told of agents on several nodes: clocks that drift, silences, and nodes that are late."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cuesta.analysis.step import StepRecords
from cuesta.analysis.summary import Summary, summarise
from cuesta.ledger import open_run
from tests.run_folder import CLOCK, NANO, Row, RunFolder, change_rows, change_run, edit_run, rows, write_rows

NODES = ("10.77.0.2", "10.77.0.3", "10.77.0.4")
AHEAD = 5_000_000_000_000
MICRO = 1_000


def spread(folder: Path, nodes: Sequence[str | None] = NODES, notes: Sequence[Row] = (), **made: object) -> Path:
    """Write a run whose agents are on nodes, each with a clock of its own; `notes` follow each agent's first row."""
    arguments: Row = {"agents": len(nodes), "users": (len(nodes),), "settle": 10, "measure": 50, **made}
    RunFolder(folder, **arguments).write()
    begun = [
        {"at": CLOCK, "agent": agent, "clock": f"c{agent}", "offset": AHEAD, "error": 20 * MICRO, "start_at": CLOCK}
        | ({"node": node} if node else {})
        for agent, node in enumerate(nodes)
    ]
    write_rows(folder / "agents.jsonl", [*begun, *notes])
    for agent in range(len(nodes)):
        timeline = folder / f"agent-{agent}" / "timeline.json"
        timeline.write_text(timeline.read_text().replace(str(CLOCK), str(CLOCK + AHEAD)))
    return folder


def reading(agent: int, seconds: float, moved_us: float, error_us: int = 20) -> Row:
    at, offset = CLOCK + round(seconds * NANO), AHEAD + round(moved_us * MICRO)
    return {"at": at, "agent": agent, "clock": f"c{agent}", "offset": offset, "error": error_us * MICRO}


def drift(ppm: Mapping[int, float], until: int = 60) -> list[Row]:
    """Readings each 10 s of clocks that gain so many microseconds a second."""
    return [reading(agent, at, rate * at) for at in range(10, until + 1, 10) for agent, rate in ppm.items()]


def silence(agent: int, end: float, seconds: float) -> Row:
    return {"at": CLOCK + round(end * NANO), "agent": agent, "silent": round(seconds * NANO)}


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


def delay_keys(folder: Path, agent: int, seconds: float) -> None:
    """Send 5 % of an agent's keys late."""
    log = folder / f"agent-{agent}" / "histograms.hlog"
    log.write_text(log.read_text() + "".join(rows(0, 10, [("interactive/keys/lateness", [seconds] * 70)])))


def test_a_node_that_is_late_is_not_hidden_by_the_keys_of_the_others(tmp_path: Path) -> None:
    nodes = [f"10.77.0.{number}" for number in range(1, 9)]
    folder = spread(tmp_path / "one", nodes)
    delay_keys(folder, 4, 0.05)
    summary = summarise(folder)
    assert summary.last.lateness.p99 < 0.01  # type: ignore[operator]
    said = "10.77.0.5 was late: 1 % of its keys were sent more than 50.0 ms after they could be (allowed 10.0 ms)"
    assert texts(summary) == [said]
    for agent in range(8):
        delay_keys(folder, agent, 0.05)
    assert [each.doubt.name for each in summarise(folder).doubts] == ["late"]


def test_a_busy_node_is_named(tmp_path: Path) -> None:
    folder = spread(tmp_path / "run")
    change_rows(folder / "agent-2" / "series.jsonl", lambda row: row | {"cpu": 0.97, "run_wait": 0.5})
    assert texts(summarise(folder)) == [
        "the driver was busy on 10.77.0.4: 97.0 % of its cores (allowed 80.0 %)",
        "the driver waited for a CPU on 10.77.0.4 50.0 % of the time (allowed 10.0 %)",
    ]
