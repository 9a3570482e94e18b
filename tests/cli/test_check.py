import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.cli import main
from tests.conftest import Write

TAPE = """
Set FontSize 22
Transaction "login"
  Type "${user}"
  Enter
  Wait+Bytes@5s 80
End
Think exp 5s
"""


def test_a_tape_is_listed_with_its_notes(
    write: Write, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    write("login.tape", TAPE)
    assert main(["check", "login.tape"]) == 0
    assert capsys.readouterr().out == snapshot


def test_a_tape_is_data(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("login.tape", 'Type "a"\nEnter 2\n')
    assert main(["check", "login.tape", "--json", "-"]) == 0
    commands = json.loads(capsys.readouterr().out)["commands"]
    assert [(command["Type"], command["Args"]) for command in commands] == [("TYPE", "a"), ("ENTER", "2")]


def test_an_error_is_shown_with_a_caret(
    write: Write, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    write("bad.tape", "Enter\nThnik exp 5s\n")
    assert main(["check", "bad.tape"]) == 104
    assert capsys.readouterr().err == snapshot


def test_a_plan_is_shown_with_its_timeline(
    write: Write, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    write("who.tape", 'Type "who"\nEnter\nWait+Bytes 80\n')
    write(
        "plan.toml",
        """
        name = "small"
        tape = "who.tape"
        limits = ["response.p99 < 2s"]
        [[group]]
        name = "askers"
        users = 5
        [sweep]
        line_speed = [300, 1200]
        users = [5, 10]
        """,
    )
    assert main(["check", "plan.toml"]) == 0
    assert capsys.readouterr().out.replace(str(Path.cwd()), "HERE") == snapshot


def test_a_tape_that_does_nothing_says_so(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("settings.tape", "Set KeyRate 10cps\n")
    assert main(["check", "settings.tape"]) == 0
    assert "`cuesta run` refuses it: it can only be a part of another tape" in capsys.readouterr().out
