"""A neighbour, as a process of its own: started again, recorded, and none of its processes left."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from cuesta import _native
from cuesta.engine.local.neighbour import run_neighbour
from cuesta.engine.local.neighbour_process import PACE
from cuesta.ledger.rows import json_rows
from cuesta.plan import Segment, Settings, Step
from cuesta.records.reading import from_json
from cuesta.records.rows import NeighbourRow
from tests.busy import BUSY
from tests.conftest import Write
from tests.enough import wait_until

MILLISECOND = 1_000_000
SLEEPS = "echo $$ > pid; exec sleep 1000"
PATIENCE = 30


def accompany(
    here: Path, command: str, milliseconds: int = 100_000, enough: Callable[[Path], bool] | None = None
) -> NeighbourRow:
    """Run a command beside an interval, which ends before its time if the command has done enough; the record of it."""
    record = here / "beside.jsonl"
    segment = Segment(0, (Step({}, Settings(beside=command)),))
    with run_neighbour(segment, here, here, cpus=None) as neighbour:
        assert neighbour
        wait_until(record.exists, neighbour.process)
        settled = _native.now() + 300 * MILLISECOND
        neighbour.expect(0, settled, settled + milliseconds * MILLISECOND)
        wait_until(lambda: enough(here) if enough else record.stat().st_size > 0, neighbour.process)
    (row,) = json_rows(record, lambda row: from_json(NeighbourRow, row), [])
    return row


def has_pid(here: Path) -> bool:
    """Whether a process has written its number."""
    return (here / "pid").exists() and (here / "pid").read_text().endswith("\n")


def read_pid(here: Path) -> int:
    return int((here / "pid").read_text())


def has_ended(pid: int) -> bool:
    """Whether a process ends soon, or has ended."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        ended = bool(select.select([handle], [], [], PATIENCE)[0])
        os.close(handle)
        return ended
    return True


def test_it_is_ready_before_users_start(here: Path) -> None:
    """It records before it is told anything; a step without time to settle has it from the beginning then."""
    segment = Segment(0, (Step({}, Settings(beside="sleep 1000")),))
    with run_neighbour(segment, here, here, cpus=None) as neighbour:
        assert neighbour
        neighbour.wait_until_ready()
        assert (here / "beside.jsonl").exists()


def test_a_neighbour_that_ends_is_started_again_but_not_at_once(here: Path) -> None:
    row = accompany(here, "sleep 0.1", 1200)
    assert len(row.runs) >= 2
    assert {run.ended for run in row.runs} <= {"ended with code 0", None}
    begins = [run.begin for run in row.runs]
    assert all(late - early >= PACE for early, late in pairwise(begins))


def test_it_begins_before_the_interval_and_is_stopped_at_its_end(here: Path) -> None:
    row = accompany(here, "while :; do :; done", 300)
    (run,) = row.runs
    assert (run.begin < row.begin.at, run.end >= row.end.at, run.ended) == (True, True, None)
    assert row.end.cpu > row.begin.cpu


def test_its_cpu_time_is_that_of_all_its_processes(here: Path) -> None:
    """They count what they used by themselves, ended ones too; the kernel tells it in whole ticks of each."""
    work = "import time\nwhile time.process_time() < 0.2: pass\nopen('worked', 'a').write('x')"
    (here / "work.py").write_text(work)
    (here / "worked").touch()
    command = f"{sys.executable} work.py & {sys.executable} work.py; wait; sleep 1000"
    row = accompany(here, command, enough=lambda here: (here / "worked").read_text() == "xx")
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert row.end.cpu >= 2 * (0.2 - 2 * tick)


def test_a_command_that_fails_leaves_how_and_why(here: Path) -> None:
    row = accompany(here, "echo no such engine >&2; exit 3", 200)
    assert row.runs[0].ended == "ended with code 3"
    assert (here / "beside.log").read_text().splitlines()[0] == "no such engine"


def test_it_runs_until_the_last_of_its_group_has_ended(here: Path) -> None:
    row = accompany(here, "sleep 1000 & exit 0", 200)
    assert [run.ended for run in row.runs] == [None]


def test_a_daemon_that_it_started_ends_with_it(here: Path) -> None:
    accompany(here, "setsid sh -c 'echo $$ > pid; exec sleep 1000' & wait", enough=has_pid)
    assert has_ended(read_pid(here))


def test_it_may_clean_up_at_its_end(here: Path) -> None:
    accompany(
        here, "trap 'echo gone > cleaned; exit' TERM; echo $$ > pid; while :; do sleep 0.01; done", enough=has_pid
    )
    assert (here / "cleaned").read_text() == "gone\n"


def test_one_that_ignores_its_end_is_killed(here: Path) -> None:
    accompany(here, "trap '' TERM; echo $$ > pid; while :; do sleep 0.01; done", enough=has_pid)
    assert has_ended(read_pid(here))


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_none_is_left_after_an_interrupted_or_killed_run(here: Path, write: Write, ending: signal.Signals) -> None:
    write("type.tape", 'Type "a"\nForever\n  Sleep 1s\nEnd\n')
    write("plan.toml", f'tape = "type.tape"\ntarget = "pty:cat"\nsettle = "1s"\nmeasure = "100s"\n{BUSY}')
    command = [sys.executable, "-m", "cuesta", "run", "plan.toml", "--quiet", "--out", "out", "--beside", SLEEPS]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        wait_until(lambda: has_pid(here), run)
        pid = read_pid(here)
        run.send_signal(ending)
        assert has_ended(pid)
        run.wait(PATIENCE)
    if ending is signal.SIGINT:
        assert json.loads((here / "out" / "summary.json").read_text())["neighbour"]["command"] == SLEEPS
