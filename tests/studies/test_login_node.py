"""Plays the short plan of the study of a login node at a real one."""

import json
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from studies.serving import Running, started
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.followed import Line, at_shell, write_lines
from tests.run_folder import RunFolder, edit_run

STUDY = Path(__file__).parents[2] / "studies" / "login-node"
NODE: Mapping[str, Any] = runpy.run_path(str(STUDY / "node.py"))


def test_a_command_is_placed_in_a_control_group(here: Path) -> None:
    with NODE["limits_made"]() as groups, started("sshd", NODE["make_server"](groups), here / "node", None) as running:
        assert groups["quota"].name in run_at(running, "./limited quota cat /proc/self/cgroup")
        assert run_at(running, "./limited unknown true; echo $?") == "limited: unknown is not here\n1\n"
    assert not any(group.exists() for group in groups.values())


def run_at(running: Running, command: str) -> str:
    """What a command of the account prints at the node."""
    place, _, port = running.target.removeprefix("ssh://").partition("?")[0].rpartition(":")
    own = ["-F", "none", "-i", str(running.folder / "client"), "-o", f"UserKnownHostsFile={running.folder}/known_hosts"]
    words = ["ssh", "-p", port, *own, place, command]
    return subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL).stdout


@pytest.mark.nightly
def test_the_compiler_is_found_at_the_hops_of_those_who_type(here: Path, write: Write, cuesta: Cuesta) -> None:
    write("cuesta.toml", BUSY)
    with NODE["limits_made"]() as groups, started("sshd", NODE["make_server"](groups), here / "node", None) as running:
        short = ("run", str(STUDY / "short.toml"), "--target", running.target, "--out", "out", "--quiet")
        cuesta(*short, "--json", "figures.json").ends(Exit.GOOD)
        throttled = dict(row.split() for row in (groups["quota"] / "cpu.stat").read_text().splitlines())
    alone, compiling, limited = (
        step["echo"]["path"] for step in json.loads((here / "figures.json").read_text())["steps"]
    )
    assert min(path["keys"] for path in (alone, compiling, limited)) > 100
    assert compiling["run_queue"]["mean"] > alone["run_queue"]["mean"]
    assert {"cc1", "as"} & {hop["other"] for hop in compiling["parts"]}
    assert not {"cc1", "as"} & {hop["other"] for hop in alone["parts"]}
    assert int(throttled["nr_throttled"]) > 0


def test_the_table_leaves_out_a_step_that_met_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = [("interactive/keys/echo", [0.001] * 400)]
    run = RunFolder(tmp_path / "run", users=(4, 4), settle=2, measure=10, histograms=keys).write()
    with edit_run(run) as recorded:
        for step, hogs in zip(recorded["steps"], ("hogs/alone.csv", "hogs/compile.csv"), strict=True):
            step["swept"] = {"group.hogs.data": hogs}
    line = Line()
    for number in range(240):
        line.type(0.05 + number / 10, at_shell(run_queue=900.0, other="a stranger" if number < 120 else "cc1"))
    write_lines(run, [line])
    monkeypatch.setattr(sys, "argv", ["waits.py", str(run)])
    runpy.run_path(str(STUDY / "waits.py"))["main"]()
    rows = capsys.readouterr().out.splitlines()
    assert rows[1].split() == ["alone", "0"]
    assert rows[2].split()[:2] == ["compile", "1"]
    assert rows[2].endswith(" cc1")
