"""Each tape that ships with Cuesta is played at its program: every key is accounted for, and nothing is left behind.

All are played at once, by commands of their own, until each has played its loop once. Keys come faster than a person's,
so that this takes no longer; pauses are the tapes' own.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cuesta.engine.tapes import read_tape
from cuesta.errors import Exit
from cuesta.ledger.rows import json_rows
from cuesta.shipped_tapes import list_words, read_shipped_tape
from tests.busy import BUSY
from tests.daemons import needed
from tests.enough import LIMIT, wait_until

PROGRAMS = Path(__file__).parent / "programs"
KEY_RATE = "15cps"
IN_INK = "5cps"
"""Ink's field may lose one of two keys that come at once."""
UNFOLLOWED = 0.05
"""The share of timed keys that may have no figure: more void a run."""
OWN_CONFIGURATION = {
    "pty:bash": "pty:HISTFILE=bash_history PROMPT_COMMAND='echo >>commands.log' bash --norc",
    "pty:tmux -L $$ new bash": "pty:SHELL=/bin/bash tmux -f /dev/null -L $$ new 'bash --norc'",
    "pty:AGENT": f"pty:{shlex.join([sys.executable, str(PROGRAMS / 'agent.py')])} agent.log",
    "pty:PROGRAM": "pty:bash --norc",
}
"""The beginnings of targets, and what takes their place: without the configuration of this machine, and with a log."""
TYPED = ("now is the time", "echo $((6*7))", "head -n 3")
"""What users type, of which no file may keep anything."""
LOGS = ("commands.log", "agent.log")


@dataclass(frozen=True)
class Played:
    """A tape that was played at its program."""

    summary: dict[str, Any]
    home: Path
    """The program's own home, and the folder that it was started in."""

    def log(self, name: str) -> list[str]:
        return (self.home / name).read_text(encoding="utf-8").splitlines()


def target_of(word: str) -> str:
    """The target that a tape names, without the configuration of this machine."""
    target = read_shipped_tape(word).target
    begun = next((begin for begin in OWN_CONFIGURATION if target.startswith(begin)), None)
    return target if begun is None else OWN_CONFIGURATION[begun] + target.removeprefix(begun)


class Playing:
    """A tape that is being played at its program, by a command of its own."""

    def __init__(self, word: str, folder: Path, target: str, key_rate: str = KEY_RATE) -> None:
        self.word, self.folder, self.home = word, folder, folder / "home"
        self.home.mkdir()
        (self.home / "cuesta.toml").write_text(BUSY)
        own = {"HOME": self.home, "XDG_CONFIG_HOME": self.home, "XDG_DATA_HOME": self.home, "LANG": "C.UTF-8"}
        flags = f"--key-rate {key_rate} --users 1 --settle 0s --measure {LIMIT} --meters none --quiet".split()
        command = [sys.executable, "-m", "cuesta", "run", word, "--target", target, *flags]
        output = ["--out", str(folder / "out"), "--json", str(folder / "summary.json")]
        with (folder / "said").open("w") as said:
            self.process = subprocess.Popen(
                [*command, *output],
                cwd=self.home,
                env={**os.environ, **{name: str(value) for name, value in own.items()}},
                stdout=said,
                stderr=said,
            )

    def has_played_its_loop(self) -> bool:
        files = self.folder.glob("out/agent-*/series.jsonl")
        return any(row["passes"] for file in files for row in json_rows(file, dict[str, Any], []))

    def end(self) -> Played:
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == Exit.INTERRUPTED, (self.folder / "said").read_text()
        return Played(json.loads((self.folder / "summary.json").read_text()), self.home)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played]:
    """All tapes, each ended once it has played its loop."""
    assert all(map(needed, ("bash", "emacs", "fish", "less", "nano", "tmux", "vim")))
    return end_after_a_loop([Playing(word, tmp_path_factory.mktemp(word), target_of(word)) for word in list_words()])


def end_after_a_loop(playing: Sequence[Playing]) -> dict[str, Played]:
    """End each tape once it has played its loop."""
    try:
        for each in playing:
            wait_until(each.has_played_its_loop, each.process)
        return {each.word: each.end() for each in playing}
    finally:
        for each in playing:
            each.process.kill()


@pytest.mark.parametrize("word", list_words())
def test_every_key_at_the_program_is_accounted_for(word: str, played: dict[str, Played]) -> None:
    accounts_for_keys(word, played[word].summary)


def accounts_for_keys(word: str, summary: dict[str, Any]) -> None:
    """Assert that keys have their echoes, and that each transaction of the tape was counted."""
    assert (summary["invalid_because"], summary["errors"]["by_name"]) == ([], {})
    assert summary["unfollowed"] <= UNFOLLOWED * summary["echo"]["count"]
    assert summary["echo"]["count"] > 10
    counted = {each["transaction"] for each in summary["classes"] if each["response"]["count"]}
    assert counted >= set(read_tape(f"builtin:{word}").content.transactions())


@pytest.mark.parametrize("word", list_words())
def test_nothing_that_was_typed_is_left_behind(word: str, played: dict[str, Played]) -> None:
    files = [path for path in played[word].home.rglob("*") if path.is_file() and path.name not in LOGS]
    assert not [path for path in files if any(text in path.read_text(errors="replace") for text in TYPED)]


def test_a_shell_has_carried_out_what_was_counted(played: dict[str, Played]) -> None:
    bash = played["bash"]
    prompts = len(bash.log("commands.log"))
    assert 0 <= prompts - bash.summary["transactions"]["count"] <= 2  # the first prompt, and one at the end


def test_an_agent_has_got_the_keys_that_were_counted(played: dict[str, Played]) -> None:
    agrees_with_log(played["agent"])


@pytest.mark.nightly
def test_an_agent_in_ink_has_got_the_keys_that_were_counted(tmp_path: Path) -> None:
    made = shutil.copytree(PROGRAMS / "ink", tmp_path / "ink")
    subprocess.run(["npm", "ci", "--silent"], cwd=made, check=True)
    playing = Playing("agent", tmp_path, f"pty:node {made / 'agent.mjs'} agent.log", IN_INK)
    agent = end_after_a_loop([playing])["agent"]
    accounts_for_keys("agent", agent.summary)
    agrees_with_log(agent)


def agrees_with_log(agent: Played) -> None:
    """Assert that an agent has logged the keys and the answers that were counted."""
    rows = [json.loads(row) for row in agent.log("agent.log")]
    typed = sum("key" in row for row in rows)
    assert 0 <= typed - agent.summary["echo"]["count"] <= 2  # the probe, and a key at the end
    (answers,) = [each for each in agent.summary["classes"] if each["transaction"] == "answer"]
    assert sum("prompt" in row for row in rows) >= 2 * answers["response"]["count"]
