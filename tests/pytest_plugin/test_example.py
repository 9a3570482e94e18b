"""The project in examples/pytest, as its author runs it: real programs, real runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.busy import BUSY

EXAMPLE = Path(__file__).parents[2] / "examples" / "pytest"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project."""
    return shutil.copytree(EXAMPLE, tmp_path / "jot", ignore=shutil.ignore_patterns("__pycache__", ".*"))


def run_tests(project: Path, *arguments: str) -> str:
    """What pytest prints, once its tests have passed."""
    plugins = ["-p", "cuesta.pytest_plugin", "-p", "xdist"]
    command = [sys.executable, "-m", "pytest", *plugins, *arguments]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ended = subprocess.run(command, cwd=project, env=alone, capture_output=True, text=True, check=False)
    assert ended.returncode == pytest.ExitCode.OK, ended.stdout + ended.stderr
    return ended.stdout


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def test_workers_take_turns_and_the_controller_writes_what_they_measured(project: Path) -> None:
    test = project / "tests" / "test_typing.py"
    edit(test, 'measure="4s", limit="echo.p95 < 100ms"', 'measure="2s", limit="echo.p50 < 30s", runs=1')
    (project / "tests" / "cuesta.toml").write_text(BUSY)
    said = run_tests(project, "-n", "2", "--cuesta-out", "out", "--cuesta-update", "--cuesta-baseline", "base.json")
    assert said.count("baseline of 2 tests written") == 1
    tests = json.loads((project / "base.json").read_text())["tests"]
    assert list(tests) == [f"tests/test_typing.py::{name}" for name in ("test_a_long_note", "test_an_empty_note")]
    first, second = sorted(
        ((folder / "run.json").stat().st_mtime_ns, (folder / "summary.json").stat().st_mtime_ns)
        for folder in project.glob("out/*/run-1")
    )
    assert first[1] < second[0], "the second run began before the first was over"


@pytest.mark.quiet
def test_the_example_passes(project: Path) -> None:
    assert "2 passed" in run_tests(project, "--cuesta-undecided", "fail")


@pytest.mark.nightly
@pytest.mark.quiet
def test_the_example_tells_that_it_became_slow(project: Path) -> None:
    edit(project / "jot.py", "    return len(text.split())", "    curses.napms(100)\n    return len(text.split())")
    with pytest.raises(AssertionError, match=r"limit crossed: echo\.p95 < 100ms: (≥ )?[\d.]+ m?s"):
        run_tests(project)
