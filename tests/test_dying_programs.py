"""Programs that end by themselves: the report shows how they ended and their last output, but no secret."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write

TAPE = 'Set KeyRate 50cps\nType "${password}"\nEnter\nWait+Prompt\nThink fixed 200ms\n'
PLAN = (
    """
tape = "users.tape"
data = "users.csv"
users = 3
stagger = "20ms"
settle = "500ms"
measure = "3s"
"""
    + BUSY
)
ALL_MAY_BE_LOST = PLAN + "lost_users = 1\n"

Play = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def play(here: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> Play:
    """A function that plays users at a program and returns the exit code, the JSON and the text of the summary."""

    def go(target: str, plan: str = ALL_MAY_BE_LOST, tape: str = TAPE) -> tuple[int, dict[str, Any], str]:
        write("users.tape", tape)
        write("users.csv", "name,password\nann,hunter2\n")
        write("plan.toml", plan)
        code = main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet"])
        text = " ".join(capsys.readouterr().out.split())
        return code, json.loads((here / "out" / "summary.json").read_text()), text

    return go


@pytest.mark.parametrize(
    ("target", "how", "last"),
    [
        ("pty:python3 nothere.py", "exited with status 2", "No such file or directory"),
        ("pty:echo out of memory; kill -KILL $$", "was killed by signal 9 (kill)", "out of memory"),
        ("pipe:false", "exited with status 1", "had said nothing"),
    ],
)
def test_a_program_that_dies_at_its_start_says_why(play: Play, here: Path, target: str, how: str, last: str) -> None:
    code, summary, text = play(target, tape=TAPE.replace("password", "name"))  # a slow start has its line echo the keys
    assert code == Exit.INVALID
    assert summary["invalid_because"][0].startswith("the program on the line ended at its start")
    said = summary["errors"]["said"]["exited-at-start"]
    assert how in said
    assert last in said
    assert how in text
    assert last in text
    assert how in (here / "out" / "report.html").read_text()
    advice = " ".join(summary["invalid_because"])
    assert "mend what the program complains of" in advice
    assert "faster" not in advice


def test_the_message_of_the_shell_for_a_missing_program_is_shown(play: Play) -> None:
    code, summary, _ = play("pty:sh -c cuesta-no-such-program", tape="Wait+Prompt\nThink fixed 1s\n")
    assert code == Exit.INVALID
    assert "not found" in summary["errors"]["said"]["no-program"]


def test_its_last_words_are_shown_too_if_no_user_may_be_lost(play: Play) -> None:
    code, summary, _ = play("pipe:false", PLAN)
    assert code == Exit.INVALID
    assert next(said.partition(",")[0] for said in summary["invalid_because"]) == (
        "the program on the line ended at its start"
    )


def test_a_secret_in_its_last_words_is_in_no_file(play: Play, here: Path) -> None:
    code, summary, text = play(r"pty:read word; printf 'hello\n\033[31mno \033[0m%s here\n' $word; exit 3")
    assert code == Exit.INVALID
    assert summary["errors"]["said"]["exited-at-start"].endswith("it said last: (hidden) | hello | (hidden)")
    assert "\x1b" not in text
    written = [path for path in here.glob("out/**/*") if path.is_file()]
    assert written
    assert not [path for path in written if b"hunter2" in path.read_bytes()]


def test_a_program_that_ends_after_it_has_worked_is_data(play: Play) -> None:
    tape = r"""
Set KeyRate 50cps
Wait /\$ $/
Repeat 2
  Type "echo 1"
  Enter
  Wait /\$ $/
End
Type "exit 7"
Enter
Wait+Prompt
Think fixed 100ms
"""
    code, summary, _ = play("pty:PS1='$ ' bash --norc --noprofile", tape=tape)
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert set(summary["errors"]["by_name"]) == {"exited"}
    assert "exited with status 7" in summary["errors"]["said"]["exited"]
