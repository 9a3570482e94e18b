"""Plays the short plan of the study of SSH servers at each of them."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write
from tests.report.made_up import search

STUDY = Path(__file__).parents[2] / "studies" / "ssh-servers"
PASS = {"list", "open the editor", "line", "save", "leave the editor", "count", "remove"}


@pytest.mark.parametrize(
    "server", ["openssh", *(pytest.param(each, marks=pytest.mark.nightly) for each in ("dropbear", "tinysshd", "none"))]
)
def test_the_study_of_ssh_servers_types_at_the_real_ones(server: str, here: Path, write: Write) -> None:
    write("cuesta.toml", BUSY)
    folder = here / "server"
    own = [str(STUDY / "servers.py"), server, "--memory", "--folder", str(folder), "--json", "server.json"]
    run = ["-m", "cuesta", "run", str(STUDY / "short.toml"), "--out", "out", "--quiet", "--json", "run.json"]
    command = [sys.executable, *own, "--", sys.executable, *run]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode in {Exit.GOOD, Exit.LIMIT}, ended.stderr  # others may keep the machine busy
    summary = json.loads((here / "run.json").read_text())
    assert (summary["invalid_because"], summary["errors"]["count"]) == ([], 0)
    assert {each["transaction"] for each in summary["classes"] if each["response"]["count"]} == PASS
    assert summary["echo"]["count"] > 0.9 * summary["keystrokes"]["count"] > 0
    assert summary["host"]["per_transaction"]["cpu_ms"] > 0
    (report,) = json.loads((here / "server.json").read_text())
    if server != "none":
        # Cuesta tries each target once before the run.
        assert report["logins"] == summary["login"]["count"] + 1 == 6
    assert report["sessions"] == 5
    serving = {"openssh": ("sshd", 10), "dropbear": ("dropbear", 5), "tinysshd": ("tinysshd", 5)}
    if server in serving:
        program, processes = serving[server]
        assert report["programs"][program]["processes"] == processes
        assert report["programs"][program]["bytes"] > 5 * 100_000
    assert [path for path in Path("/proc").glob("[0-9]*/mountinfo") if f"{here.name}/server" in text_of(path)] == []


def test_the_figure_of_the_ssh_study_is_drawn(tmp_path: Path) -> None:
    servers = ("openssh", "dropbear", "tinysshd")
    for server in servers:
        search(tmp_path / server)
    command = [sys.executable, str(STUDY.parent / "plots.py"), str(tmp_path)]
    drawn = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert drawn.startswith("<svg")
    assert all(server in drawn for server in servers)


def text_of(path: Path) -> str:
    """The text of a file of a process; empty if that has ended."""
    with suppress(OSError):
        return path.read_text()
    return ""
