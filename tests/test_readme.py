"""The commands of README's first screen, as they are written there, from the root of the repository.

Hosts that only readers have are replaced by real ones of this machine.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.daemons import AT_A_SHELL, sshd
from tests.hercules import hercules
from tests.test_block_mode import ANSWERS
from tests.web_servers import ttyd

ROOT = Path(__file__).parents[1]
COMMANDS = re.findall(r"^\$ (cuesta .*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
"""One for each kind of reader, in README's order."""
BASTION, CI, WEB, LOGIN, GREEN = COMMANDS
WEB_HOST, SERVER = "web:7681", "$(pgrep -xo ttyd)"
USERS = 20
"""Devices of the mainframe."""


def play(command: str, home: Path, more: str = "") -> "subprocess.CompletedProcess[str]":
    """Carry out a command of README by a shell whose home is `home`; `more` shortens it."""
    (home / "cuesta").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m cuesta "$@"\n')
    (home / "cuesta").chmod(0o755)
    environment = {**os.environ, "HOME": str(home), "PATH": f"{home}:{os.environ['PATH']}"}
    words = ["bash", "-c", f"{command} {more}"]
    return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)


@contextmanager
def shells(folder: Path, *names: str) -> Iterator[tuple[Path, int]]:
    """An sshd that ssh's configuration in the home folder knows by these names; yields the home and its process."""
    with sshd(folder, AT_A_SHELL) as host:
        home = folder / "home"
        where = f"HostName 127.0.0.1\nPort {host.port}\nIdentityFile {folder}/client\n"
        (home / ".ssh/config").write_text(
            f"Host {' '.join(names)}\n{where}UserKnownHostsFile {home}/.ssh/known_hosts\n"
        )
        yield home, host.pid


def test_readme_has_a_line_for_each_of_five_people() -> None:
    assert [command.split()[1] for command in COMMANDS] == ["search", "compare", "run", "run", "run"]


@pytest.mark.parametrize(
    "command",
    [BASTION, WEB.replace(SERVER, str(os.getpid())), LOGIN, GREEN],
    ids=["bastion", "web", "login", "green"],
)
def test_each_command_is_understood(command: str, tmp_path: Path) -> None:
    ended = play(command, tmp_path, "--dry-run")
    assert (ended.returncode, ended.stderr) == (Exit.GOOD, "")


def measured(command: str, home: Path, more: str, replaced: Mapping[str, str]) -> dict[str, int]:
    """Play a command; how many echoes and transactions it measured.

    A busy machine may make a run INVALID, and a search that is ended early certifies no load (REFUSED).
    """
    for written, here in replaced.items():
        assert written in command
        command = command.replace(written, here)
    ended = play(command, home, f"{more} --json - --quiet --out {home}/run")
    assert ended.returncode in {Exit.GOOD, Exit.LIMIT, Exit.INVALID, Exit.INCONCLUSIVE, Exit.REFUSED}, ended.stderr
    summary = json.loads(ended.stdout)
    return {name: summary[name]["count"] for name in ("echo", "transactions")}


SHORT = "--settle 1s --measure 4s"


@pytest.mark.nightly
def test_a_bastion_is_searched(tmp_path: Path) -> None:
    with shells(tmp_path, "bastion") as (home, _):
        short = "--users 4 --settle 1s --measure 10s --budget 40s"
        counts = measured(BASTION, home, short, {"you@": f"{getuser()}@"})
    assert counts["echo"] > 20


@pytest.mark.nightly
def test_a_program_is_compared_with_itself_before(tmp_path: Path) -> None:
    ended = play(CI, tmp_path, f"--budget 60s --out {tmp_path}/pairs")
    assert ended.returncode in {Exit.CHANGED, Exit.INCONCLUSIVE, Exit.INVALID}, ended.stderr
    assert "jot.py CHANGELOG.md" in ended.stdout


@pytest.mark.nightly
def test_a_web_terminal_is_typed_at(tmp_path: Path) -> None:
    with ttyd.serve(tmp_path) as server:
        here = {WEB_HOST: f"127.0.0.1:{server.port}", SERVER: str(server.pid)}
        counts = measured(WEB, tmp_path, SHORT, here)
    assert counts["echo"] > 20


@pytest.mark.nightly
def test_people_share_a_login_node(tmp_path: Path) -> None:
    with shells(tmp_path, "login") as (home, _):
        counts = measured(LOGIN, home, SHORT, {"you@": f"{getuser()}@"})
    assert counts["echo"] > 20


@pytest.mark.nightly
def test_a_mainframe_unlocks_keyboards(tmp_path: Path) -> None:
    devices = [f"{0xC0 + user:04X} 3270" for user in range(USERS)]
    with hercules(tmp_path, devices, ANSWERS) as port:
        counts = measured(GREEN, tmp_path, SHORT, {"mainframe:3270": f"127.0.0.1:{port}"})
    assert counts["transactions"] > 5
