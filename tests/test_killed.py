"""Runs that are killed at any moment: their complete rows are counted exactly, and the run is reported incomplete."""

import json
import os
import random
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write
from tests.processes import command_of, descendants, end

PLAN = (
    """
name = "killed"
users = 4
agents = 2
stagger = "10ms"
settle = "200ms"
measure = "1s"
line_speed = 0
think = "exp 50ms"
key_rate = 100
meters = "plain"

[sweep.host]
delay = ["1ms", "2ms"]   # another host, so lines anew: a second segment
"""
    + BUSY
)
LONGEST = 4.0
"""Seconds of the last kills; on a quiet machine such a run has ended by then."""
DICE = random.Random(1969)
KILLS = [
    *(("everything", round(DICE.uniform(0.2, LONGEST), 2)) for _ in range(4)),
    *(("engine", round(DICE.uniform(0.2, LONGEST), 2)) for _ in range(2)),
    ("agent", round(DICE.uniform(1.5, 3.0), 2)),
]


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the plan in a process; all its descendants are killed at the end of the block."""
    command = [sys.executable, "-m", "cuesta", "run", "killed.toml", "--quiet", "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        end([process.pid, *descendants(process.pid)])
        process.wait()


def kill(process: subprocess.Popen[bytes], who: str) -> None:
    """Kill the named processes that exist at one instant; wait until the others have ended by themselves."""
    os.kill(process.pid, signal.SIGSTOP)  # stopped first, so that it starts no process meanwhile
    children = descendants(process.pid)
    handles = [handle for pid in children if (handle := handle_of(pid))]
    agents = [pid for pid in children if b"cuesta.engine.local.agent_process" in command_of(pid)]
    named = {"everything": [process.pid, *children], "engine": [process.pid], "agent": agents[:1]}[who]
    end(named)
    os.kill(process.pid, signal.SIGCONT)
    process.wait(60)
    for handle in handles:
        assert select.select([handle], [], [], 30)[0], "a process of a killed run survived"
        os.close(handle)


def handle_of(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None if it has ended."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def measured(folder: Path) -> int:
    """Count the transactions of the measurement intervals in whole rows."""
    rows = [row for path in folder.glob("**/series.jsonl") if path.parent.name != "host" for row in whole(path)]
    return sum(int(row["transactions"]) for row in rows if row["phase"] == "measure")


def came_to_its_end(folder: Path) -> bool:
    """Whether every agent of both segments recorded its end: the run may have been killed after that."""
    ends = [folder / segment / f"agent-{agent}" / "agent.json" for segment in (".", "segment-1") for agent in (0, 1)]
    return all(path.exists() and '"ended":"completed"' in path.read_text().replace(" ", "") for path in ends)


def whole(path: Path) -> list[dict[str, Any]]:
    text = path.read_text()
    return [json.loads(row) for row in text[: text.rfind("\n") + 1].splitlines()]


@pytest.mark.parametrize(("who", "at"), KILLS)
def test_a_killed_run_is_read_up_to_the_kill(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str], who: str, at: float
) -> None:
    write("killed.toml", PLAN)
    folder = here / "out"
    with started(folder) as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(at)
        if process.poll() is None:
            kill(process, who)

    code = main(["report", "out", "--json", "report.json", "--out", "page.html"])
    said = capsys.readouterr()
    if not (folder / "run.json").exists():
        assert code == Exit.BAD_INPUT
        assert "not a run folder" in said.err
        return
    assert code == Exit.GOOD
    report, page = json.loads((here / "report.json").read_text()), (here / "page.html").read_text()
    assert sum(step["transactions"]["count"] for step in report["steps"]) == measured(folder)
    assert page.endswith("</html>\n")
    assert (report["ended"] == "completed") == (complete := came_to_its_end(folder))
    for shown in (said.out, page):
        assert ("INVALID" in shown) != report["valid"]
        assert bool(re.search("recorded are|nothing was recorded", " ".join(shown.split()))) != complete
