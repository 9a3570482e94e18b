"""Signals and closed pipes at any moment: no traceback, and files are complete or absent."""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from cuesta.errors import Exit
from tests.conftest import Write

QUICK = ["run", "--users", "4", "--stagger", "1ms", "--settle", "200ms", "--measure", "500ms", "--meters", "none"]
RUN = [*QUICK, "--line-speed", "0", "--think", "exp 100ms", "--key-rate", "100", "--out", "out", "--quiet"]


def python(before: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command in a separate process after some statements."""
    program = f"{dedent(before)}\nfrom cuesta.__main__ import main\nsys.exit(main())"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_ctrl_c_while_the_command_loads_prints_nothing() -> None:
    ended = python(
        """
        import os, signal, sys

        class Interrupts:
            def find_spec(self, name, path=None, target=None):
                if name == "cuesta.plan.schema":
                    os.kill(os.getpid(), signal.SIGINT)

        sys.meta_path.insert(0, Interrupts())
        """,
        *RUN,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (Exit.INTERRUPTED, "", "")


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_during_the_summary_leaves_complete_files(here: Path, write: Write, signal: str) -> None:
    ended = python(
        f"""
        import os, signal, sys
        from cuesta.workflow import run_result
        summarise = run_result.summarise

        def interrupted(folder):
            os.kill(os.getpid(), signal.{signal})
            return summarise(folder)

        run_result.summarise = interrupted
        """,
        *RUN,
    )
    assert ended.returncode == Exit.INTERRUPTED, ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout.startswith("VALIDITY ")
    are_whole(here / "out")


def test_a_reader_that_closes_its_pipe_loses_no_file(here: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "cuesta", *RUN]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=100)
    os.close(writer)
    text = ended.stderr
    assert ended.returncode in (Exit.GOOD, Exit.INVALID), text
    assert "Traceback" not in text
    assert "Broken pipe" not in text
    are_whole(here / "out")


def test_only_the_owner_reads_a_run(here: Path) -> None:
    (here / "out").mkdir(mode=0o755)
    subprocess.run([sys.executable, "-m", "cuesta", *RUN], check=False, capture_output=True, timeout=100)
    assert (here / "out").stat().st_mode & 0o077 == 0
    assert os.listdir(here / "out")


def test_ctrl_c_while_progress_is_printed_stops_the_run(here: Path) -> None:
    ended = python(
        """
        import io, os, signal, sys

        class Interrupts(io.RawIOBase):
            told = False

            def fileno(self):
                return 2

            def writable(self):
                return True

            def write(self, data):
                if b"transactions" in bytes(data) and not self.told:
                    self.told = True
                    os.kill(os.getpid(), signal.SIGINT)
                return os.write(2, data)

        sys.stderr = io.TextIOWrapper(io.BufferedWriter(Interrupts()), write_through=True)
        """,
        *[word for word in RUN if word != "--quiet"],
    )
    assert ended.returncode == Exit.INTERRUPTED, ended.stderr
    assert "stopping; what was measured is kept" in ended.stderr
    assert "please report it" not in ended.stderr


def are_whole(folder: Path) -> None:
    json.loads((folder / "summary.json").read_text())
    assert (folder / "report.html").read_text().endswith("</html>\n")
