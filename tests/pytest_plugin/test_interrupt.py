"""Ctrl-C while a test measures: pytest ends soon, and nothing that the measurement started is left."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from cuesta.engine.local.neighbour_process import descendants
from tests.engine.local.test_neighbour import has_pid, read_pid
from tests.enough import wait_until

PATIENCE = 60
SESSION = """
import signal, sys, pytest
signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored below a job in the background
sys.exit(pytest.main(["-p", "cuesta.pytest_plugin", "-p", "no:benchmark", "--basetemp=temporary", *sys.argv[1:]]))
"""
TEST = """
def test_typing(cuesta):
    cuesta("pty:trap '' HUP INT TERM; echo $$ > pid; while [ -e pid ]; do sleep 0.1; done", measure="1000s")
"""


@contextmanager
def start_session(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start pytest in a process group of its own, which is killed after the block."""
    command = [sys.executable, "-c", SESSION, *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True) as session:
        try:
            yield session
        finally:
            with suppress(ProcessLookupError):
                os.killpg(session.pid, signal.SIGKILL)
            (folder / "pid").unlink(missing_ok=True)  # the program ends, if it is left


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_an_interrupted_measurement_leaves_no_process(tmp_path: Path, workers: tuple[str, ...]) -> None:
    """Not even a program that ignores the hangup."""
    (tmp_path / "test_app.py").write_text(TEST)
    with start_session(tmp_path, *workers, "test_app.py") as session:
        wait_until(lambda: has_pid(tmp_path), session)
        program = read_pid(tmp_path)
        started = [pid for pid in descendants(session.pid) if os.getpgid(pid) != session.pid]
        os.killpg(session.pid, signal.SIGINT)  # as a terminal does
        said, _ = session.communicate(timeout=PATIENCE)
        left = [pid for pid in started if Path(f"/proc/{pid}").exists()]
    assert session.returncode == pytest.ExitCode.INTERRUPTED, said
    assert program in started
    assert left == []
