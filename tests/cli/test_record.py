"""Recorded sessions: a simulated person at a terminal, and a real shell."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from cuesta import _native
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.person import Person

SHELL = "bash --norc --noprofile"
SAMPLES = Path(__file__).parents[2] / "crates" / "cuesta-cast" / "tests" / "it" / "samples"

PLAN = (
    """
tape = "{tape}"
target = "pty:{shell}"
data = "users.csv"
users = 2
settle = "0s"
measure = "4s"
"""
    + BUSY
)


@pytest.fixture(autouse=True)
def _one_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the prompt the same for root and other users."""
    monkeypatch.setenv("PS1", "$ ")


def events(cast: Path) -> list[list[Any]]:
    return [json.loads(row) for row in cast.read_text(encoding="utf-8").splitlines()[1:]]


def of_kind(cast: Path, code: str) -> str:
    return "".join(data for _, kind, data in events(cast) if kind == code)


def recorded(here: Path) -> str:
    """Record a session with a password in it; returns what the person saw."""
    person = Person(here, "record", "-o", "session", "--", *SHELL.split())
    person.sees("$ ")
    person.types("echo hello\r")
    person.sees("hello\r\n")
    person.sees("$ ")
    person.types("read -s -p 'Password: ' x\r")
    person.sees("\rPassword: ")
    person.types("hunter2\r", shown=False)
    person.sees("$ ")
    assert person.is_raw()
    person.types("exit\r")
    assert person.sees_the_end() == Exit.GOOD
    return person.seen.decode()


def test_a_session_becomes_a_tape_that_plays(here: Path, write: Write, cuesta: Cuesta) -> None:
    seen = recorded(here)
    assert "play it: cuesta run session.tape --target 'pty:bash --norc --noprofile'" in seen
    tape = (here / "session.tape").read_text(encoding="utf-8")
    typed = [row.strip() for row in tape.splitlines() if row.strip().startswith("Type")]
    assert typed == ['Type "echo hello"', "Type \"read -s -p 'Password: ' x\"", 'Type "${password}"', 'Type "exit"']
    assert "Set Columns 100" in tape
    assert tape.count("Wait+Prompt") == 4
    assert tape.rstrip().endswith("Wait+Disconnect\nEnd")
    write("users.csv", "password\nswordfish\nsesame\n")
    write("session.toml", PLAN.format(tape="session.tape", shell=SHELL))
    summary = cuesta("run", "session.toml", "--quiet", "--json", "-", "--out", "out").ends().json
    assert (summary["errors"]["count"], summary["valid"]) == (0, True)
    assert {each["transaction"] for each in summary["classes"]} >= {"echo", "read", "password", "exit"}


def test_a_password_is_in_no_file(here: Path) -> None:
    seen = recorded(here)
    assert "hunter" not in seen
    files = [path for path in here.rglob("*") if path.is_file()]
    assert {path.name for path in files} == {"session.tape", "session.cast"}
    assert [path for path in files if b"hunter" in path.read_bytes()] == []
    # The keys together do not contain it either.
    assert of_kind(here / "session.cast", "i") == "echo hello\rread -s -p 'Password: ' x\r\rexit\r"
    assert of_kind(here / "session.cast", "m") == "${password}"
    # No event shows how long it took to type.
    instants = [(code, data, at) for at, code, data in events(here / "session.cast")]
    marker = next(number for number, (code, _, _) in enumerate(instants) if code == "m")
    assert instants[marker + 1][:2] == ("i", "\r")
    assert instants[marker][2] == instants[marker + 1][2]


def test_the_cast_is_what_the_person_saw(here: Path) -> None:
    seen = recorded(here)
    cast = here / "session.cast"
    assert of_kind(cast, "o") in seen
    header = json.loads(cast.read_text(encoding="utf-8").splitlines()[0])
    assert (header["version"], header["width"], header["height"], header["command"]) == (2, 100, 30, SHELL)
    at = [seconds for seconds, _, _ in events(cast)]
    assert at == sorted(at)
    shown = Person(here, "cat", "session.cast", program=("asciinema",))
    assert shown.sees_the_end() == 0
    assert of_kind(cast, "o").split() == shown.seen.decode().split()


def test_the_terminal_is_restored_however_it_ends(here: Path) -> None:
    person = Person(here, "record", "-o", "ended", "--", *SHELL.split())
    person.sees("$ ")
    person.types("echo kept")
    assert person.is_raw()
    os.kill(person.process, signal.SIGTERM)
    person.sees("ended.tape")
    assert not person.is_raw()
    assert person.sees_the_end() == Exit.INTERRUPTED
    assert 'Type "echo kept"' in (here / "ended.tape").read_text(encoding="utf-8")
    assert "Wait+Disconnect" not in (here / "ended.tape").read_text(encoding="utf-8")


def test_a_recording_outlives_its_window(here: Path) -> None:
    person = Person(here, "record", "-o", "closed", "--", *SHELL.split())
    person.sees("$ ")
    person.types("echo kept")
    assert os.waitstatus_to_exitcode(person.leave()) == Exit.INTERRUPTED
    assert 'Type "echo kept"' in (here / "closed.tape").read_text(encoding="utf-8")
    assert (here / "closed.cast").exists()


def test_a_person_can_leave_a_host_that_does_not_end(here: Path) -> None:
    person = Person(here, "record", "-o", "cat", "--", "cat")
    person.sees("three times\r\n")
    while not person.is_raw():
        person.types("x")
    person.types("a")
    for _ in range(3):
        person.types("\x1d")
    assert person.sees_the_end() == Exit.GOOD
    assert "Ctrl+]" not in (here / "cat.tape").read_text(encoding="utf-8")
    assert b"^]" not in person.seen


def test_a_recording_uses_an_unused_name(here: Path, write: Write) -> None:
    write("true.cast", "kept")
    person = Person(here, "record", "--", "true")
    assert person.sees_the_end() == Exit.FAILED
    assert "nothing was typed" in person.seen.decode()
    assert (here / "true.cast").read_text(encoding="utf-8") == "kept"
    assert (here / "true-2.cast").exists()


def test_existing_files_are_not_overwritten(here: Path, write: Write) -> None:
    write("mine.tape", 'Type "mine"\n')
    person = Person(here, "record", "-o", "mine", "--", "true")
    assert person.sees_the_end() == Exit.USAGE
    assert "exists already" in person.seen.decode()


def test_a_pipe_cannot_be_recorded(here: Path) -> None:
    person = Person(here, "record", "--target", "pipe:cat -n")
    assert person.sees_the_end() == Exit.USAGE
    seen = person.seen.decode()
    assert "pipe:cat -n has no terminal: what you type would not be shown" in seen
    assert "cuesta record --target 'pty:cat -n'" in seen


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("", Exit.USAGE, "there is nothing to record"),
        ("-- true", Exit.USAGE, "there is no terminal here to type at"),
        ("--target pty:bash -- bash", Exit.USAGE, "one of COMMAND, --target and --from is enough"),
        ("--from nowhere.cast", Exit.BAD_INPUT, "nowhere.cast: cannot read the cast"),
        ("--from nowhere", Exit.BAD_INPUT, "casts in that folder: broken.cast, old.cast"),
        ("--from no-folder/demo.cast", Exit.BAD_INPUT, "there is no cast in that folder"),
        ("--from old.cast", Exit.BAD_INPUT, "nothing that was typed is in it"),
        ("--from broken.cast", Exit.BAD_INPUT, "broken.cast: row 2: it is no event"),
    ],
)
def test_targets_that_cannot_be_recorded_are_refused(
    write: Write, cuesta: Cuesta, arguments: str, code: Exit, text: str
) -> None:
    write("old.cast", '{"version": 1, "width": 80, "height": 24, "stdout": [[0.1, "$ "]]}\n')
    write("broken.cast", '{"version": 2, "width": 80, "height": 24}\n[soon]\n')
    cuesta("record", *arguments.split()).ends(code, text)


def test_a_truncated_cast_becomes_a_tape_up_to_that_point(here: Path, cuesta: Cuesta) -> None:
    sample = (SAMPLES / "input-v2.cast").read_bytes()
    (here / "killed.cast").write_bytes(sample[: len(sample) * 3 // 4].rstrip(b"]\n"))
    cuesta("record", "--from", "killed.cast").ends(Exit.GOOD, "killed.cast: the cast ends within a row")
    made = (here / "killed.tape").read_text(encoding="utf-8")
    assert "# the cast ends within a row" in made
    assert "Wait+Disconnect" not in made
    assert "note: the cast ends within a row" in cuesta("check", "killed.cast").ends().out


@pytest.mark.parametrize("version", ["v2", "v3"])
def test_a_cast_of_another_recorder_becomes_a_tape(here: Path, cuesta: Cuesta, version: str) -> None:
    convert = ("record", "--from", SAMPLES / f"input-{version}.cast", "-o", "made")
    cuesta(*convert).ends()
    made = (here / "made.tape").read_text(encoding="utf-8")
    assert 'Type "echo hé"' in made
    assert _native.Tape.parse(made, "made.tape", ".").transactions() == ["echo", "vi", "iabc", "exit"]
    cuesta(*convert).ends(Exit.USAGE)
    cuesta(*convert, "--force").ends()
