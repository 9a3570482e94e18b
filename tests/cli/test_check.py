"""`cuesta check`: a tape or a plan as it is read, or what is wrong with it."""

from pathlib import Path

from syrupy.assertion import SnapshotAssertion

from cuesta.errors import Exit
from tests.conftest import Cuesta, Write

TAPE = """
Set FontSize 22
Transaction "login"
  Type "${user}"
  Enter
  Wait+Bytes@5s 80
End
Think exp 5s
"""


def test_a_tape_is_listed_with_its_notes(write: Write, cuesta: Cuesta, snapshot: SnapshotAssertion) -> None:
    write("login.tape", TAPE)
    assert cuesta("check", "login.tape").ends().out == snapshot


def test_a_tape_is_data(write: Write, cuesta: Cuesta) -> None:
    write("login.tape", 'Type "a"\nEnter 2\n')
    commands = cuesta("check", "login.tape", "--json", "-").ends().json["commands"]
    assert [(command["Type"], command["Args"]) for command in commands] == [("TYPE", "a"), ("ENTER", "2")]


def test_an_error_is_shown_with_a_caret(write: Write, cuesta: Cuesta, snapshot: SnapshotAssertion) -> None:
    write("bad.tape", "Enter\nThnik exp 5s\n")
    assert cuesta("check", "bad.tape").ends(Exit.BAD_INPUT).err == snapshot


def test_a_plan_is_shown_with_its_timeline(write: Write, cuesta: Cuesta, snapshot: SnapshotAssertion) -> None:
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
    assert cuesta("check", "plan.toml").ends().out.replace(str(Path.cwd()), "HERE") == snapshot


def test_a_tape_that_does_nothing_says_so(write: Write, cuesta: Cuesta) -> None:
    write("settings.tape", "Set KeyRate 10cps\n")
    text = cuesta("check", "settings.tape").ends().out
    assert "`cuesta run` refuses it: it can only be a part of another tape" in text
