"""`Wait+Ready` at real programs: what takes keys is found ready, and what others show is told before a key counts."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write
from tests.enough import LIMIT, ended_when, measured_rows

PLAN = f'tape = "users.tape"\nusers = 1\nstagger = "0s"\nsettle = "0s"\nmeasure = "{LIMIT}"\n' + BUSY
KEYS = 'Set Echo screen\nType@50ms "hey"\nSleep 5m\n'
TYPED = "hey"
TEXTUAL = f"pty:{shlex.quote(sys.executable)} app.py"
APP = """
from textual.app import App
from textual.widgets import Input, Label

class Notes(App):
    def compose(self):
        yield Label("Notes")
        yield Input(placeholder="Say something")

Notes().run()
"""

SLOW = """
import os, time, tty
os.write(1, b"Loading\\r\\n> ")
time.sleep(3)
tty.setraw(0)
os.write(1, b"\\x1b[2J\\x1b[H> ")
while key := os.read(0, 1):
    time.sleep(0.04)
    os.write(1, b"\\b\\x1b[K" if key == b"\\x7f" else key)
"""

Play = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def play(here: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> Play:
    """A function that plays a user at a program; returns the exit code, the JSON and the text of the summary."""

    def go(target: str, wait: str = "Wait+Ready") -> tuple[int, dict[str, Any], str]:
        write("users.tape", f"{wait}\n{KEYS}")
        write("plan.toml", PLAN)
        write("long.txt", "".join(f"row {number}\n" for number in range(200)))
        write("notes.txt", "one\n")
        write("app.py", APP)
        write("slow.py", SLOW)
        code = main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet"])
        text = " ".join(capsys.readouterr().out.split())
        return code, json.loads((here / "out" / "summary.json").read_text()), text

    return go


@pytest.mark.parametrize(
    ("target", "seen"),
    [
        ("pty:less long.txt", "the program shows a pager: `long.txt`"),
        ("pty:whiptail --yesno 'Install it?' 10 40", "the program asks a question: `│ <Yes> <No> │`"),
        ("pty:printf 'debian login: '; cat", "the program shows a login screen: `debian login:`"),
        ("pty:printf 'Sign in\\nEmail address: '; cat", "the program shows a login screen: `Email address:`"),
        ("pty:whiptail --inputbox Password: 8 40", "the program shows a login screen: `│ Password: │`"),
        ("pty:echo no licence; exit 3", "exited with status 3; it said last: no licence"),
    ],
)
def test_what_a_program_shows_instead_is_told_first_and_ends_the_run(play: Play, target: str, seen: str) -> None:
    code, summary, text = play(target)
    assert code == Exit.INVALID
    assert seen in " ".join(summary["invalid_because"][0].split())
    assert seen in text
    assert summary["keystrokes"]["count"] == 0
    assert summary["seconds"] < 60


@pytest.mark.parametrize(
    ("target", "wait"),
    [
        ("pty:bash --norc", "Wait+Ready"),
        ("pty:sleep 0.7; exec bash --norc", "Wait+Ready"),
        ("pty:dash", "Wait+Ready"),
        ("pty:nano notes.txt", "Wait+Ready"),
        ("pty:vim --clean -n notes.txt", 'Type "i"\nWait+Ready'),
        ("pty:less long.txt", "Wait+Ready Down Up"),
        pytest.param("pty:emacs -nw -Q notes.txt", "Wait+Ready@60s", marks=pytest.mark.nightly),
        pytest.param("pty:fish --no-config", "Wait+Ready@60s", marks=pytest.mark.nightly),
        pytest.param("pty:zsh -f", "Wait+Ready@60s", marks=pytest.mark.nightly),
        pytest.param("pty:tmux -L ready-$$ -f /dev/null new bash --norc", "Wait+Ready@60s", marks=pytest.mark.nightly),
        pytest.param(TEXTUAL, "Wait+Ready@60s", marks=pytest.mark.nightly),
    ],
)
def test_a_program_that_takes_keys_is_seen_to(play: Play, target: str, wait: str) -> None:
    typed = len(TYPED) + wait.startswith("Type")
    with ended_when(lambda out: sum(row["keys"] for row in measured_rows(out)) >= typed):
        code, summary, _ = play(target, wait)
    assert code == Exit.INTERRUPTED, summary["invalid_because"]
    assert (summary["errors"]["by_name"], summary["keystrokes"]["count"]) == ({}, typed)


def test_a_program_that_hangs_behind_the_echo_of_its_terminal_is_not_ready(play: Play) -> None:
    code, summary, text = play("pty:echo Loading; printf '> '; sleep 1000", "Wait+Ready@6s")
    assert code == Exit.INVALID
    assert "the program reads nothing: its terminal echoes what is typed: `>`" in text
    assert summary["keystrokes"]["count"] == 0


def test_a_program_that_starts_slowly_is_waited_for(play: Play) -> None:
    with ended_when(lambda out: sum(row["keys"] for row in measured_rows(out)) >= len(TYPED)):
        _, summary, _ = play(f"pty:{shlex.quote(sys.executable)} slow.py", "Wait+Ready@60s")
    assert (summary["errors"]["by_name"], summary["echo"]["count"]) == ({}, len(TYPED))
    assert summary["echo"]["min"] > 0.039
