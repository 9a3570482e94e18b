"""Users type at real programs that draw what is typed: Cuesta's figures beside what another terminal emulator sees.

Between both, `tests.hosts.passes_on` logs each piece and delays what the program says, so that several keys are under
way; `tests.typed_rows` judges the log. `scripts/setup --tests` installs the editors, `--nightly` the others.
"""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.daemons import needed, tcpsvd, telnetd
from tests.enough import LIMIT, ended_after
from tests.hosts.lines import host
from tests.typed_rows import Answered, Ends, at_caret, at_cursor, judge, numbers_answers, prompts

USERS = 3
TRANSACTIONS = 15
LATE = 0.1
"""Seconds by which all output is delayed."""
MARGIN = {"p50": 0.02, "p90": 0.06}
"""Seconds by which a percentile may be another: a busy machine delays what passes between Cuesta and the judge."""
GRAIN = 0.99
"""A histogram's value may lie below what was put in."""
PROGRAMS = Path(__file__).parent / "programs"

PLAN = (
    f"""
name = "real-programs"
tape = "rows.tape"
users = {USERS}
stagger = "100ms"
settle = "0s"
measure = "{LIMIT}"
"""
    + BUSY
)
RUN = ("run", "plan.toml", "--out", "out", "--quiet", "--json", "-")
TYPING = """
Set KeyRate {rate}
Set KeyLaw human
Set Echo {echo}
"""
AT_A_SHELL = r"""
Set Prompt /\$ $/
Wait+Prompt@30s
Forever
  Transaction "long row"
    Type "echo 0123456789 abcdefghij 0123456789 abcdefghij 0123456789 abcdefghij 0123456789"
    Enter
    Wait+Prompt
  End
  Think 200ms
  Transaction "edited row"
    Type "echo hello worl"
    Left 3
    Sleep 400ms
    Type "big "
    Ctrl+E
    Sleep 400ms
    Type "d"
    Enter
    Wait+Prompt
  End
  Think 200ms
  Transaction "completed row"
    Type "echo /usr/l"
    Tab
    Tab
    Sleep 400ms
    Type "ib"
    Enter
    Wait+Prompt
  End
  Think 200ms
  Transaction "suggested row"
    Type "echo hell"
    Enter
    Wait+Prompt
  End
  Think 200ms
End
"""
IN_A_FIELD = r"""
Wait+Screen@30s /answer 0/
Sleep 500ms
Forever
  Transaction "plain row"
    Type "all of the  little letters"
    Enter
    Wait+Screen /answer \d+/
  End
  Think 200ms
  Transaction "edited row"
    Type "hello worlds"
    Left 2
    Sleep 400ms
    Type "ly "
    Right 2
    Sleep 400ms
    Backspace
    Sleep 400ms
    Type " too"
    Enter
    Wait+Screen /answer \d+/
  End
  Think 200ms
End
"""
IN_AN_EDITOR = """
Wait+Screen@30s /{begun}/
Sleep 300ms
Forever
  Transaction "plain row"
    Type "all of the  little letters"
    Wait+Screen /letters/
  End
  Enter
  Think 200ms
  Transaction "edited row"
    Type "and moree"
    Sleep 300ms
    Backspace
    Type " of it"
    Wait+Screen /of it/
  End
  Enter
  Think 200ms
End
"""
ZSHRC = """
PROMPT='$ '
RPROMPT='right %T'
HISTFILE=$ZDOTDIR/history SAVEHIST=100 HISTSIZE=100
autoload -Uz compinit && compinit -D
zstyle ':completion:*' menu select
source /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh
"""
BBS = """#!/bin/bash
printf 'login: '; read -r user; printf 'Password: '; read -rs password; echo
while printf 'MENU> '; read -r choice; do echo "you chose $choice"; done
"""
AT_THE_BBS = """
Wait+Screen /login: $/
Type "${user}"
Enter
Wait+Screen /Password: $/
Sleep 300ms
Type "${password}"
Enter
Wait+Screen /MENU> $/
Forever
  Transaction "choice"
    Type "who"
    Enter
    Wait+Screen /MENU> $/
  End
  Think 100ms
End
"""


def fish(folder: Path) -> list[str]:
    own = [f"{name}={folder}" for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")]
    return ["env", *own, needed("fish"), "-C", "function fish_prompt; echo -n '$ '; end; function fish_greeting; end"]


def zsh(folder: Path) -> list[str]:
    (folder / ".zshrc").write_text(ZSHRC)
    return ["env", f"ZDOTDIR={folder}", f"HOME={folder}", needed("zsh"), "-i"]


def vim(folder: Path) -> list[str]:
    return [needed("vim"), "-u", "NONE", "-N", "-n", "-i", "NONE", "-c", "startinsert"]


def emacs(folder: Path) -> list[str]:
    return ["env", f"HOME={folder}", needed("emacs"), "-nw", "-Q", "-f", "text-mode"]


def textual(folder: Path) -> list[str]:
    return [sys.executable, str(PROGRAMS / "field.py")]


def ink(folder: Path) -> list[str]:
    made = shutil.copytree(PROGRAMS / "ink", folder / "ink")
    subprocess.run(["npm", "ci", "--silent"], cwd=made, check=True)
    return ["node", str(made / "field.mjs")]


def bubbletea(folder: Path) -> list[str]:
    made = shutil.copytree(PROGRAMS / "bubbletea", folder / "bubbletea")
    subprocess.run(["go", "build", "-o", "field"], cwd=made, check=True)
    return [str(made / "field")]


@dataclass(frozen=True)
class Program:
    """How a program is started, what is typed at it, and what the judge looks at."""

    command: Callable[[Path], list[str]]
    typed: str
    ends: Ends
    answered: Answered | None = None
    """`None`: the last key of a row is its own answer."""
    rate: str = "20cps"
    echo: str = "screen"


VIM = Program(vim, IN_AN_EDITOR.replace("{begun}", "INSERT"), at_cursor)
NIGHTLY = {
    "emacs": Program(emacs, IN_AN_EDITOR.replace("{begun}", "All"), at_cursor),
    "fish": Program(fish, AT_A_SHELL, at_cursor, prompts("$ ")),
    "zsh": Program(zsh, AT_A_SHELL, at_cursor, prompts("$ ")),
    "zsh, not timed": Program(zsh, AT_A_SHELL, at_cursor, prompts("$ "), echo="off"),
    "textual": Program(textual, IN_A_FIELD, at_caret, numbers_answers, rate="5cps"),
    # It may lose one of two keys that come at once.
    "ink": Program(ink, IN_A_FIELD, at_caret, numbers_answers, rate="5cps"),
    "bubbletea": Program(bubbletea, IN_A_FIELD, at_caret, numbers_answers),
}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(VIM, id="vim"),
        *(pytest.param(program, id=name, marks=pytest.mark.nightly) for name, program in NIGHTLY.items()),
    ],
)
def test_figures_are_those_of_another_emulator(program: Program, here: Path, write: Write, cuesta: Cuesta) -> None:
    write("rows.tape", TYPING.format(rate=program.rate, echo=program.echo) + program.typed)
    write("plan.toml", PLAN)
    relay = [*host("passes_on", here / "log"), "--late", str(LATE), "--", *program.command(here)]
    with ended_after(TRANSACTIONS):
        summary = cuesta(*RUN, "--target", f"pty:{shlex.join(relay)}").ends(Exit.INTERRUPTED).json
    assert summary["invalid_because"] == []
    users = judge(here / "log", program.ends, program.answered)
    echoes = [echo for user in users for echo in user.echoes]
    if program.echo == "off":
        assert summary["echo"]["count"] == 0
    else:
        agrees(summary["echo_from_sent"], echoes)
        assert abs(summary["echo"]["count"] - len(echoes)) <= USERS * 4  # under way at the end
    agrees(summary["response_from_sent"], [answer for user in users for answer in user.answers] or echoes, ["p50"])
    assert summary["errors"]["by_name"].get("unechoed", 0) <= sum(user.missed for user in users)
    assert summary["unfollowed"] == 0
    assert summary["continued_long"] <= sum(user.continued for user in users)


def agrees(told: dict[str, Any], judged: list[float], percentiles: Iterable[str] = MARGIN) -> None:
    """Assert that percentiles are the judge's, and that nothing is faster than the fastest."""
    judged = sorted(judged)
    assert told["min"] >= judged[0] * GRAIN
    for name in percentiles:
        here = judged[len(judged) * int(name[1:]) // 100]
        assert here * GRAIN - MARGIN[name] <= told[name] <= here + MARGIN[name], (name, told, here)


@pytest.mark.parametrize(
    ("echo", "rate", "load"), [("timed", "0", "closed"), ("timed", "20cps", "open:20/s"), ("screen", "20cps", "closed")]
)
def test_keys_behind_a_password_are_echoed(
    echo: str, rate: str, load: str, here: Path, write: Write, cuesta: Cuesta
) -> None:
    write("rows.tape", TYPING.format(rate=rate, echo=echo) + AT_THE_BBS)
    write("plan.toml", PLAN.replace('"rows.tape"', '"rows.tape"\ndata = "users.csv"'))
    write("users.csv", "user,password\njoe,secret\nann,word\n")
    with telnetd(tcpsvd, here, BBS) as port, ended_after(TRANSACTIONS):
        summary = cuesta(*RUN, "--target", f"telnet://127.0.0.1:{port}", "--load", load).json
    assert (summary["errors"]["by_name"], summary["unfollowed"]) == ({}, 0)
    # Each user's first row, and two waits of its login, may have come before measuring began.
    assert summary["echo"]["count"] >= len("who") * (summary["transactions"]["count"] - 3 * USERS)
    assert summary["echo_from_sent"]["p50"] < LATE
