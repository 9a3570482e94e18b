"""What limits real hosts of known behaviour, by the sentence at the end of a run: beside what their own logs say."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.hosts import burns_cpu, holds_lock, serial_device
from tests.hosts.lines import host, over_pty
from tests.hosts.log import Log
from tests.processes import program

TAPE = r"""
Set KeyRate 50cps
Wait@30s /\$ $/
Forever
  Transaction "row"
    Type "go"
    Enter
    Wait+Screen /done\s+\$ $/
  End
  Think exp 100ms
End
"""
DEVICE_TAPE = f"""
Set KeyRate 50cps
Forever
  Transaction "row"
    Type "go"
    Enter
    Wait+Bytes {len(serial_device.ANSWER)}
  End
  Think exp 100ms
End
"""


def played(folder: Path, *flags: str, target: str = "host:", tape: str | None = None) -> dict[str, Any]:
    """Run for some seconds under thresholds that a busy machine keeps; return the summary."""
    folder.mkdir(exist_ok=True)
    plan = f'target = {json.dumps(target)}\nstagger = "20ms"\nsettle = "1s"\nmeasure = "3s"\n'
    if tape:
        (folder / "users.tape").write_text(tape)
        plan = f'tape = "users.tape"\n{plan}'
    (folder / "plan.toml").write_text(plan + BUSY)
    command = [sys.executable, "-m", "cuesta", "run", "plan.toml", "--quiet", "--json", "-", "--out", "out", *flags]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert run.returncode == Exit.GOOD, run.stderr
    summary: dict[str, Any] = json.loads(run.stdout)
    _, _, end = " ".join(run.stderr.split()).rpartition("LIMITED BY ")
    assert end.startswith(f"{summary['limited_by']} "), "the text ends with the sentence and the headline"
    assert end.endswith("valid; no limit was set")
    return summary


def test_servers_are_named_while_their_cpu_is_idle(tmp_path: Path) -> None:
    rest = ("--key-rate", "200", "--line-speed", "0", "--think", "exp 100ms", "--meters", "plain")
    summary = played(tmp_path, "--users", "60", "--host", "service_time=exp 10ms", "--host", "servers=1", *rest)
    assert summary["limited_by"].startswith("the built-in host's servers: ")
    assert "; a transaction costs " in summary["limited_by"]


def test_the_line_is_named_with_its_characters(tmp_path: Path) -> None:
    summary = played(tmp_path, "--users", "20", "--meters", "plain")
    assert re.fullmatch(r"the line: 312 of \d+ ms are 150 characters at 4800 baud", summary["limited_by"])


def test_the_line_of_a_serial_device_has_the_speed_of_its_target(tmp_path: Path) -> None:
    device = tmp_path / "device"
    answering = shlex.join(host("serial_device", tmp_path / "host.log"))
    ends = [f"pty,raw,echo=0,link={device}", f"EXEC:{answering},pty,raw,echo=0"]
    with program(["socat", "-d", "-d", *ends], says="starting data transfer loop"):
        target = f"serial:{device}?baud={serial_device.BAUD}"
        summary = played(tmp_path / "run", "--users", "1", target=target, tape=DEVICE_TAPE)
    said = rf"the line: 500 of \d+ ms are {len(serial_device.ANSWER)} characters at {serial_device.BAUD} baud"
    assert re.fullmatch(said, summary["limited_by"])


def test_a_lock_that_is_held_asleep_is_a_conflict_and_not_the_cpu(tmp_path: Path) -> None:
    with over_pty(host("holds_lock", tmp_path / "host.log"), tmp_path) as reached:
        flags = ("--users", "1,12", "--meters", "plain")
        summary = played(tmp_path / "run", *flags, target=reached.target, tape=TAPE)
    said = summary["limited_by"]
    assert said.startswith("CONFLICT: a response takes ")
    assert "with 1 user and " in said
    assert "locks (--meters exact)" in said
    assert summary["response"]["mean"] > 5 * holds_lock.SECONDS
    assert "busy at" not in said


@pytest.mark.skipif(os.cpu_count() == 1, reason="the driver needs a CPU beside the host's")
def test_a_host_that_burns_cpu_is_limited_by_it_at_its_own_price(tmp_path: Path) -> None:
    with over_pty(host("burns_cpu", tmp_path / "host.log"), tmp_path) as reached:
        summary = played(tmp_path / "run", "--users", "16", "--meters", "plain", target=reached.target, tape=TAPE)
    said = summary["limited_by"]
    assert said.startswith((f"CPU {burns_cpu.CPU} of the host: ", "CPU of the host: ")), said
    assert demand(tmp_path / "run" / "out", said.partition(":")[0]) == pytest.approx(logged(tmp_path, summary), rel=0.1)


def demand(folder: Path, name: str) -> float:
    """The service demand of the resource that a sentence names."""
    from cuesta.analysis.capacity.measured_step import MeasuredStep  # noqa: PLC0415
    from cuesta.analysis.capacity.resources import read_resources  # noqa: PLC0415
    from cuesta.analysis.summary import summarise  # noqa: PLC0415

    summary = summarise(folder)
    known = {each.name: each for each in read_resources(MeasuredStep(summary.recorded, summary.last))}
    return known[name].demand or 0.0


def logged(folder: Path, summary: dict[str, Any]) -> float:
    """CPU time of a row by the host's own log, in the metered interval."""
    log, report = Log.read(folder / "host.log"), summary["host"]["sheet"]
    begin = report["at"] - int(report["seconds"] * 1e9)
    burned = [row for row in log.rows if row["did"] == "burned" and begin <= row["at"] <= report["at"]]
    return float(sum(row["cpu"] for row in burned) / len(burned))
