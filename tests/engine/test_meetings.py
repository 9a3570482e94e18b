"""Barriers across agents: their messages, and real runs whose due instants must not depend on the number of agents."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cuesta.engine.meetings import Meetings
from cuesta.ledger import open_run
from cuesta.ledger.transactions import read_transactions
from cuesta.records.messages import BarrierRelease, BarrierStatus
from tests.busy import BUSY
from tests.conftest import Write

GRID = 100_000_000
"""Nanoseconds: users who met go on at a multiple of it from the start of the run."""

TAPE = """
Set TypingSpeed 0ms
Barrier "all are in"
Forever
  Transaction "row"
    Type "x"
    Enter
    Wait+Bytes 20
  End
  Think 210ms
  Barrier "all have thought"
End
"""

PLAN = (
    """
users = 5
stagger = "190ms"
settle = "1500ms"
measure = "2500ms"
line_speed = 0
meters = "none"
log_transactions = true
[host]
service = "transaction 20"
"""
    + BUSY
)


def status(arrived: int, go_on: int, met: int = 0) -> BarrierStatus:
    return BarrierStatus(group=0, barrier=1, round=met, arrived=arrived, parties=3, go_on=go_on)


def test_all_agents_are_released_when_the_last_user_arrives() -> None:
    told: list[BarrierRelease] = []
    meetings = Meetings(told.append)
    meetings.hear(0, status(1, 500))
    meetings.hear(1, status(1, 900))
    meetings.hear(1, status(0, 900))  # that user has left the barrier
    meetings.hear(0, status(2, 700))
    assert told == []
    meetings.hear(1, status(1, 1000))
    assert told == [BarrierRelease(group=0, barrier=1, round=0, go_on=1000)]
    meetings.hear(0, status(1, 1100))  # the agent wrote it before it read the release
    meetings.hear(1, status(3, 2000, met=1))
    assert [release.round for release in told] == [0, 1]


def due_instants(folder: Path, agents: int) -> dict[int, list[int]]:
    """Instants of each user, in nanoseconds from the start."""
    due: dict[int, list[int]] = {}
    recorded = open_run(folder)
    assert len(recorded.agents) == agents
    for row in read_transactions(recorded):
        due.setdefault(row.user, []).append(round(row.due * 1e9))
    return due


@pytest.mark.quiet  # on a busy machine answers come late, and all meet later
def test_due_instants_do_not_depend_on_the_number_of_agents(here: Path, write: Write) -> None:
    write("meet.tape", TAPE)
    write("meet.toml", 'tape = "meet.tape"\n' + PLAN)
    command = [sys.executable, "-m", "cuesta", "run", "meet.toml", "--quiet", "--json", "-"]
    runs = {
        agents: subprocess.Popen([*command, "--agents", str(agents), "--out", f"out-{agents}"], stdout=subprocess.PIPE)
        for agents in (1, 3)
    }
    by_agents = []
    for agents, run in runs.items():
        summary = json.loads(run.communicate(timeout=60)[0])
        assert (run.returncode, summary["errors"]["count"]) == (0, 0)
        by_agents.append(due_instants(here / f"out-{agents}", agents))
    for due in by_agents:
        assert sorted(due) == [0, 1, 2, 3, 4]
        assert len(due[0]) >= 5
        assert all(instants == due[0] for instants in due.values()), "all users must meet each time"
        assert all(instant % GRID == 0 for instant in due[0])
    one, three = (due[0] for due in by_agents)
    rounds = min(len(one), len(three))
    assert three[:rounds] == one[:rounds]
