"""Plays the short plan of the study of a login node at a real one."""

import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.path.derive import join_run, select_step
from cuesta.errors import Exit
from cuesta.ledger.run_folder import open_run
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
        cuesta(*short).ends(Exit.GOOD)
        throttled = dict(row.split() for row in (groups["quota"] / "cpu.stat").read_text().splitlines())
    alone, compiling, limited = read_others(here / "out")
    assert (alone["cc1"], compiling["cc1"] > 0, limited["cc1"] > 0) == (0, True, True)
    assert limited["yes"] + limited["cat"] > 0
    assert int(throttled["nr_throttled"]) > 0


def read_others(run: Path) -> Iterator[Counter[str]]:
    """For each step, who had the CPU that hops of its keys waited for."""
    recorded = open_run(run)
    for times in recorded.steps.values():
        keys = [key for host in join_run(recorded) for key in select_step(host, times, ()).keys if key.path]
        yield Counter(hop.other for key in keys if key.path for hop in key.path.hops if hop.other)


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
