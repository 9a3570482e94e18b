"""Counting runnable tasks in a family of programs of known behaviour."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuesta.engine.local.runnable import RunnableTasks, count_runnable

AGENT = """
import subprocess, sys
children = [subprocess.Popen(["sh", "-c", text]) for text in sys.argv[1:]]
print("started", flush=True)
sys.stdin.read()
for child in children:
    child.kill()
    child.wait()
"""
SPINS, SLEEPS = "while :; do :; done", "exec sleep 600"


@pytest.fixture
def agent() -> Iterator["subprocess.Popen[str]"]:
    """An agent with two programs that spin and one that sleeps."""
    command = [sys.executable, "-c", AGENT, SPINS, SPINS, SLEEPS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        yield process


def test_spinning_tasks_are_runnable_and_sleeping_ones_are_not(agent: "subprocess.Popen[str]") -> None:
    looks = RunnableTasks(os.getpid(), 1.0)
    seen = {"tasks": 0, "wanting": 0}
    give_up = time.monotonic() + 30
    while (seen["tasks"], seen["wanting"]) != (3, 2) and time.monotonic() < give_up:  # wait until all three have begun
        looks.look()
        seen = json.loads(looks.rows[-1])
    assert (seen["tasks"], seen["wanting"]) == (3, 2)


def test_samples_of_tasks_are_written_beside_the_run(tmp_path: Path, agent: "subprocess.Popen[str]") -> None:
    with count_runnable(tmp_path / "run-1", 0.01):
        (tmp_path / "run-1").mkdir()
    rows = [json.loads(row) for row in (tmp_path / "run-1" / "wanting.jsonl").read_text().splitlines()]
    assert rows[0]["tasks"] >= rows[0]["wanting"] >= 0


def test_a_process_that_has_ended_has_no_tasks() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    looks = RunnableTasks(os.getpid(), 1.0)
    assert (looks.children(ended.pid), list(looks.states(ended.pid))) == ([], [])
