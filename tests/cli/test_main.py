"""The command line before a verb: help, usage errors, streams that are closed, internal errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.conftest import Cuesta, Write


@pytest.mark.parametrize("arguments", ["--help", "run --help", "host --help", "check --help"])
def test_help_teaches_with_examples(arguments: str, cuesta: Cuesta) -> None:
    assert "examples:\n  cuesta " in cuesta(*arguments.split()).ends().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", "usage: cuesta"),
        ("fly", "usage: cuesta"),
        ("run --wings", "cuesta run: no such flag: --wings\n"),
        ("run --user 3", "cuesta run: no such flag: --user; did you mean --users?\n"),
        ("check a.tape b.tape", "cuesta check: one argument too many: b.tape\n"),
    ],
)
def test_a_command_line_that_is_wrong_is_a_usage_error(arguments: str, text: str, cuesta: Cuesta) -> None:
    assert cuesta(*arguments.split()).ends(Exit.USAGE).err.startswith(text)


def of_cli(rest: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = f"{sys.executable} -m cuesta {rest}"
    given = {**os.environ, **environment}
    return subprocess.run(command, shell=True, cwd=folder, env=given, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_failure(closed: str, write: Write) -> None:
    folder = write("a.tape", 'Type "a"\nEnter\nWait+Echo\n').parent
    ended = of_cli(f"run a.tape --users 1 --measure 1s --settle 0s --meters none --out made {closed}", folder)
    assert (ended.returncode, ended.stderr) in [(Exit.GOOD, b""), (Exit.INVALID, b"")]
    assert (folder / "made" / "summary.json").exists()
    assert b"another: --target" not in ended.stdout


def test_characters_that_the_terminal_lacks_are_replaced(write: Write) -> None:
    folder = write("a.tape", 'Type "ä"\nEnter\n').parent
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shown = of_cli("check a.tape", folder, **ascii_only)
    assert (shown.returncode, shown.stderr) == (Exit.GOOD, b"")
    assert b'Type "?"' in shown.stdout
    data = of_cli("check a.tape --json -", folder, **ascii_only)
    assert "ä" in str(json.loads(data.stdout))


def test_an_internal_error_is_one_message(monkeypatch: pytest.MonkeyPatch, cuesta: Cuesta) -> None:
    monkeypatch.setattr("cuesta.cli.check.check_tape", lambda *_: 1 / 0)
    text = cuesta("check", "x.tape").ends(Exit.FAILED).err
    assert text.startswith("cuesta: ZeroDivisionError: division by zero\n  CUESTA_DEBUG=1 ")
    assert "Traceback" not in text
    monkeypatch.setenv("CUESTA_DEBUG", "1")
    cuesta("check", "x.tape").ends(Exit.FAILED, "Traceback")
