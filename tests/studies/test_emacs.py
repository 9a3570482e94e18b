"""Plays the study of Emacs at real Emacs, at a pseudo-terminal, over telnet and over SSH."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write
from tests.daemons import AT_A_SHELL, busybox, sshd, telnetd

STUDY = Path(__file__).parents[2] / "studies" / "emacs"
PIECES = {
    "adjust the paragraph",
    "back up lines",
    "back up words",
    "corrected line",
    "delete all",
    "forward a word",
    "go to the end",
    "insert a word",
    "kill a word",
    "line",
}
LOGIN = """#!/bin/sh
export HOME={home} TERM=xterm-256color PS1='$ '
printf 'login: '
read -r name
stty -echo
printf 'Password: '
read -r password
stty echo
printf '\n'
[ "$name $password" = "ann hunter2" ] && exec /bin/bash --norc --noprofile -i
"""


@contextmanager
def over_telnet(here: Path, home: Path) -> Iterator[list[str]]:
    """A telnet daemon that asks for name and password."""

    def daemon(shell: Path, port: int, folder: Path) -> list[str]:
        shell.write_text(LOGIN.format(home=home))
        return busybox(shell, port, folder)

    (here / "users.csv").write_text("user,password\nann,hunter2\n")
    with telnetd(daemon, here) as port:
        yield ["telnet.toml", "--target", f"telnet://127.0.0.1:{port}", "--data", "users.csv"]


@contextmanager
def over_ssh(here: Path, home: Path) -> Iterator[list[str]]:
    """OpenSSH, and a shell behind it."""
    with sshd(here, AT_A_SHELL, f"SetEnv HOME={home}") as host:
        yield ["ssh.toml", "--target", host.target]


def each_part_once(cycle: str) -> str:
    """The tape with 14 letters instead of 42: few enough to be typed at 20 keys a second.

    Emacs does not draw a character that is deleted, or a blank before a Return, if it reads both keys at once. This
    user waits between them, for longer than a busy machine keeps Emacs from reading.
    """
    once, count = re.subn("Play [A-N]{42}", "Play ABCDEFGHIJKLMN", cycle)
    assert count == 1
    waits, count = re.subn("(Backspace|Enter)(?= Type|$)", r"\1@300ms", once, flags=re.MULTILINE)
    assert count == 15
    return waits


def processes_at_home(home: Path) -> list[str]:
    """Commands of the processes whose home is this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            own = f"HOME={home}".encode() in (process / "environ").read_bytes().split(b"\0")
            if own and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_bytes().decode())
        except OSError:
            pass
    return found


@pytest.mark.nightly
def test_the_emacs_study_plays_all_parts_at_real_emacs(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("cuesta.toml", BUSY)
    home = here / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    code = main(["run", str(STUDY / "short.toml"), "--out", "out", "--quiet", "--json", "summary.json"])
    said = capsys.readouterr().out
    summary = json.loads((here / "summary.json").read_text())
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    for step in summary["steps"]:
        assert set(step["errors"]["by_name"]) <= {"unechoed"}, step["errors"]
        # On a busy machine Emacs may process a key and its deletion, or a last blank and Return, before it draws.
        assert step["errors"]["count"] <= 0.001 * step["keystrokes"]["count"]
        assert {each["transaction"] for each in step["classes"] if each["response"]["count"]} == PIECES
        assert step["echo"]["count"] > 1000 * step["users"]
        assert step["characters"]["in_per_s_per_user"] > 0
    assert "PUBLISHED  characters typed, a second and user" in said
    assert [each["users"] for each in summary["published"]] == [1, 35, 35]
    assert summary["published"][0]["measured"] == summary["steps"][0]["characters"]["in_per_s_per_user"]
    assert processes_at_home(home) == []


@pytest.mark.nightly
@pytest.mark.parametrize("line", [over_telnet, over_ssh])
def test_the_emacs_study_is_typed_over_a_network(
    line: Callable[[Path, Path], AbstractContextManager[list[str]]],
    here: Path,
    write: Write,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("cuesta.toml", BUSY)
    home = here / "throwaway"
    home.mkdir()
    study = here / "emacs"
    shutil.copytree(STUDY, study)
    cycle = study / "cycle.tape"
    cycle.write_text(each_part_once(cycle.read_text()))
    quick = ["--users", "1", "--key-rate", "20", "--think", "fixed 20ms", "--settle", "3s", "--measure", "30s"]
    with line(here, home) as (plan, *more):
        code = main(["run", str(study / plan), *more, *quick, "--out", "out", "--quiet", "--json", "-"])
    summary = json.loads(capsys.readouterr().out)
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert set(summary["errors"]["by_name"]) <= {"unechoed"}
    assert {each["transaction"] for each in summary["classes"] if each["response"]["count"]} == PIECES
    assert processes_at_home(home) == []
