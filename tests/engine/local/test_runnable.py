"""Counting runnable tasks in a family of programs of known behaviour."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuesta.engine.local.runnable import RunnableTasks, count_runnable
from cuesta.records.rows import RunnableRow

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
    tasks, give_up = RunnableTasks(os.getpid()), time.monotonic() + 30
    expected = RunnableRow(at=0, tasks=3, wanting=2)
    while (counted := tasks.read(0)) != expected and time.monotonic() < give_up:
        pass  # until all three have begun
    assert counted == expected


def test_samples_of_tasks_are_written_beside_the_run_until_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "run-1" / "wanting.jsonl"
    more, read = threading.Event(), RunnableTasks.read

    def counted(tasks: RunnableTasks, at: int) -> RunnableRow:
        if file.parent.exists():
            more.set()
        return read(tasks, at)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunnableTasks, "read", counted)
        with count_runnable(file.parent, 0.01):
            file.parent.mkdir()
            assert more.wait(30), "readings go on"
    first, *_, last = (json.loads(row) for row in file.read_text().splitlines())
    assert first["at"] < last["at"]
    assert first["tasks"] >= first["wanting"] >= 0


def test_a_process_that_has_ended_has_no_tasks() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    tasks = RunnableTasks(os.getpid())
    assert (tasks.children(ended.pid), list(tasks.states(ended.pid))) == ([], [])
