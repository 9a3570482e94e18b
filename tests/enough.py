"""Runs that end when they have measured enough, however busy the machine is.

The `measure` of their plan only limits a run that hangs. Such a run ends with the exit code of an interrupted one, and
what it has measured is kept.
"""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuesta.engine.console import Console
from cuesta.engine.job import Job
from cuesta.engine.ports import Engine
from cuesta.engine.run_job import RunResult, run_job
from cuesta.ledger.rows import json_rows
from cuesta.records.observation import Observation

LIMIT = "100s"
"""The `measure` of such a plan."""


@contextmanager
def ended_when(enough: Callable[[Path], bool]) -> Iterator[None]:
    """Interrupt each `cuesta run --out …` of this process once `enough` is true of its folder.

    It is asked some times a second.
    """

    def until_enough(job: Job, out: Path, console: Console, engine: Engine) -> RunResult:
        def look_and_stop(seen: Observation) -> None:
            console.observer(seen)
            if enough(out):
                console.stop.set()

        return run_job(job, out, replace(console, observer=look_and_stop), engine)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cuesta.workflow.measure.run_job", until_enough)
        yield


def ended_after(transactions: int) -> AbstractContextManager[None]:
    """Interrupt each run of this process once it has measured some transactions."""
    return ended_when(lambda out: measured(out) >= transactions)


def measured(out: Path) -> int:
    """The transactions that a run has measured so far."""
    return sum(row["transactions"] for row in measured_rows(out))


def counted(out: Path, error: str) -> int:
    """The errors of one name that a run has measured so far."""
    return sum(row["errors"].get(error, 0) for row in measured_rows(out))


def measured_rows(out: Path) -> list[dict[str, Any]]:
    """The rows of all agents about the measurement interval."""
    files = out.glob("agent-*/series.jsonl")
    return [row for file in files for row in json_rows(file, dict[str, Any], []) if row["phase"] == "measure"]


def wait_until(enough: Callable[[], bool], process: "subprocess.Popen[Any]") -> None:
    """Wait for something that a process is to do; fail if it ends before."""
    while not enough():
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
            pytest.fail(f"{process.args!r} ended with {process.returncode}")
