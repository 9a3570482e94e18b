"""Agents on clocks of their own: their rows, the host's and the meters' stand on one axis of time."""

import json
from pathlib import Path

import pytest

from cuesta.analysis.summary import summarise
from cuesta.ledger import open_run
from cuesta.ledger.agents import ClockReading, Silence
from cuesta.ledger.transactions import read_transactions
from tests.report.made_up import host_row
from tests.run_folder import CLOCK, NANO, Row, RunFolder, change_run, write_rows

AHEAD = 5_000_000_000_000


def started(agent: int, clock: str, offset: int, **more: object) -> Row:
    return {"at": 0, "agent": agent, "clock": clock, "offset": offset, "error": 0, "start_at": CLOCK, **more}


def log(folder: Path, agent: int, start_at: int) -> None:
    """Log a transaction that is due a second after the start."""
    stamps = ",".join(str(start_at + NANO + after) for after in range(4))
    (folder / f"agent-{agent}" / "transactions.csv").write_text(f'"a","row",{agent},{stamps}\n')


def test_rows_on_other_clocks_stand_on_one_axis_of_time(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=2, measure=3).write()
    expected = open_run(folder)
    timeline = folder / "agent-1" / "timeline.json"
    timeline.write_text(json.dumps({**json.loads(timeline.read_text()), "clock": "b", "start_at": CLOCK + AHEAD}))
    clocks = {0: ("a", 0), 1: ("b", AHEAD)}
    write_rows(folder / "agents.jsonl", [started(agent, name, offset) for agent, (name, offset) in clocks.items()])
    for agent, (_, offset) in clocks.items():
        log(folder, agent, CLOCK + offset)
    (folder / "host").mkdir()
    (folder / "host" / "host.json").write_text(json.dumps({"clock": "b"}))
    write_rows(folder / "host" / "series.jsonl", [host_row(1) | {"at": CLOCK + AHEAD + 2 * NANO}])
    write_rows(folder / "meters.jsonl", [{"gap": "none", "at": CLOCK + 3 * NANO}])

    found = open_run(folder)
    assert [agent.origin for agent in found.agents] == [agent.origin for agent in expected.agents]
    assert {key: each.count for key, each in found.measured.items()} == {
        key: each.count for key, each in expected.measured.items()
    }
    assert [row.due for row in read_transactions(found)] == [1.0, 1.0]
    assert [row.end for row in found.host] == [2.0]
    assert [gap.at for gap in found.metered.gaps] == [3.0]


def test_a_dead_agent_is_named_first_and_its_lacking_end_is_no_news(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=2).write()
    (folder / "agent-1" / "agent.json").unlink()
    died = {"at": CLOCK + 31 * NANO, "agent": 1, "died": "was killed by signal 9"}
    write_rows(folder / "agents.jsonl", [started(1, "a", 0), died])
    assert [str(each) for each in summarise(folder).doubts] == [
        "agent 1 was killed by signal 9 after 31 s; what it had recorded is kept"
    ]


def test_the_notes_of_an_agent_have_its_node_its_clock_and_its_silences(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=2, measure=3).write()
    reading = {"agent": 1, "at": CLOCK + 10 * NANO, "clock": "b", "offset": AHEAD + 500, "error": 7}
    silent = {"agent": 1, "at": CLOCK + 12 * NANO, "silent": 3 * NANO}
    mine = started(0, "a", 0, at=CLOCK)
    write_rows(folder / "agents.jsonl", [started(1, "b", AHEAD, at=CLOCK, node="driver2"), mine, reading, silent])
    own, other = (agent.notes for agent in open_run(folder).agents)
    assert (own.node, own.silences, len(own.readings)) == (None, [], 1)
    assert (other.node, other.offset, other.silences) == ("driver2", AHEAD, [Silence(9.0, 12.0)])
    assert other.readings == [ClockReading(0.0, AHEAD, 0), ClockReading(10.0, AHEAD + 500, 7)]


@pytest.mark.parametrize(
    ("nodes", "more"),
    [
        (["driver2"], ""),
        (["driver2", "driver2", "driver2"], " (and 2 more there)"),
        (["driver2", "driver2", "driver3"], " (and 2 more, on driver2 and driver3)"),
        (["driver2", "a", "b", "c", "d"], " (and 4 more, on 4 nodes)"),
    ],
)
def test_agents_that_died_are_named_by_their_nodes(tmp_path: Path, nodes: list[str], more: str) -> None:
    folder = RunFolder(tmp_path / "run", agents=len(nodes), users=(len(nodes),), measure=3).write()
    rows = [started(agent, node, 0, node=node) for agent, node in enumerate(nodes)]
    write_rows(
        folder / "agents.jsonl",
        [*rows, *({"at": CLOCK + 2 * NANO, "agent": agent, "died": "was lost"} for agent in range(len(nodes)))],
    )
    (doubt,) = (each.doubt for each in summarise(folder).doubts if each.doubt.name == "agent_died")
    assert doubt.text == f"agent 0 on driver2 was lost after 2 s{more}; what it had recorded is kept"
    assert doubt.advice.startswith("see on that node who ended or stopped it")


def test_an_agent_that_was_given_up_is_told_once_with_the_reason_last(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=2, measure=3).write()
    how = "said nothing for 5.0 s: it was stopped, or its link was cut"
    died: Row = {"at": CLOCK + 4 * NANO, "agent": 1, "died": how}
    begun = [started(agent, "ab"[agent], 0, node=f"driver{agent}") for agent in (0, 1)]
    write_rows(folder / "agents.jsonl", [*begun, died, {"at": CLOCK + 5 * NANO, "agent": 1, "silent": 5 * NANO}])
    said = "agent 1 on driver1 said nothing for 5.0 s after 4 s: it was stopped, or its link was cut"
    assert [str(each) for each in summarise(folder).doubts] == [f"{said}; what it had recorded is kept"]


def test_an_agent_that_died_between_segments_ended_the_run_early(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", measure=3).write()
    change_run(folder, segments=[{"folder": ".", "steps": [0]}, {"folder": "segment-1", "steps": [1]}])
    died = {"at": CLOCK + 4 * NANO, "agent": 0, "died": "was killed by signal 9"}
    write_rows(folder / "agents.jsonl", [started(0, "a", 0), died])
    run = open_run(folder)
    assert run.damage == ["segment-1/agent-0: has recorded nothing"]
    assert [agent.ending is None for agent in run.agents] == [False, True]
