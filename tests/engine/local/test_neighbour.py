"""A neighbour, as a process of its own: started again, recorded, and none of its processes left."""

import json
import os
import select
import signal
import subprocess
import sys
import time
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

MILLISECOND = 1_000_000
SLEEPS = "echo $$ > pid; exec sleep 1000"
PATIENCE = 30


def accompany(here: Path, command: str, milliseconds: int) -> NeighbourRow:
    """Run a command beside an interval; the record of it."""
    segment = Segment(0, (Step({}, Settings(beside=command)),))
    with run_neighbour(segment, here, here, cpus=None) as neighbour:
        assert neighbour
        wait_for((here / "beside.jsonl").exists)
        settled = _native.now() + 300 * MILLISECOND
        neighbour.expect(0, settled, settled + milliseconds * MILLISECOND)
        wait_for(lambda: (here / "beside.jsonl").stat().st_size > 0)
    (row,) = json_rows(here / "beside.jsonl", lambda row: from_json(NeighbourRow, row), [])
    return row


def wait_for(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def written_pid(file: Path) -> int:
    """The number of the process that writes it into a file, when it has."""
    wait_for(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


def has_ended(pid: int) -> bool:
    """Whether a process ends soon, or has ended."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        ended = bool(select.select([handle], [], [], PATIENCE)[0])
        os.close(handle)
        return ended
    return True


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
    row = accompany(here, f"{sys.executable} work.py & {sys.executable} work.py; wait; sleep 1000", 100)
    done = len((here / "worked").read_text()) if (here / "worked").exists() else 0
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert row.end.cpu >= (0.2 - 2 * tick) * done


def test_a_command_that_fails_leaves_how_and_why(here: Path) -> None:
    row = accompany(here, "echo no such engine >&2; exit 3", 200)
    assert row.runs[0].ended == "ended with code 3"
    assert (here / "beside.log").read_text().splitlines()[0] == "no such engine"


def test_it_runs_until_the_last_of_its_group_has_ended(here: Path) -> None:
    row = accompany(here, "sleep 1000 & exit 0", 200)
    assert [run.ended for run in row.runs] == [None]


def test_a_daemon_that_it_started_ends_with_it(here: Path) -> None:
    accompany(here, "setsid sh -c 'echo $$ > pid; exec sleep 1000' & wait", 500)
    assert has_ended(written_pid(here / "pid"))


def test_it_may_clean_up_at_its_end(here: Path) -> None:
    accompany(here, "trap 'echo gone > cleaned; exit' TERM; echo $$ > pid; while :; do sleep 0.01; done", 500)
    assert (here / "cleaned").read_text() == "gone\n"


def test_one_that_ignores_its_end_is_killed(here: Path) -> None:
    accompany(here, "trap '' TERM; echo $$ > pid; while :; do sleep 0.01; done", 300)
    assert has_ended(written_pid(here / "pid"))


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_none_is_left_after_an_interrupted_or_killed_run(here: Path, write: Write, ending: signal.Signals) -> None:
    write("type.tape", 'Type "a"\nForever\n  Sleep 1s\nEnd\n')
    write("plan.toml", f'tape = "type.tape"\ntarget = "pty:cat"\nsettle = "1s"\nmeasure = "100s"\n{BUSY}')
    command = [sys.executable, "-m", "cuesta", "run", "plan.toml", "--quiet", "--out", "out", "--beside", SLEEPS]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        pid = written_pid(here / "pid")
        run.send_signal(ending)
        assert has_ended(pid)
        run.wait(PATIENCE)
    if ending is signal.SIGINT:
        assert json.loads((here / "out" / "summary.json").read_text())["neighbour"]["command"] == SLEEPS
