"""CPU time of processes that programs leave behind: Cuesta's figure compared with their own clock.

`test_lying_hosts` tests what a host on a line leaves behind.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.engine import certifier
from cuesta.engine.local import metering
from cuesta.engine.local.meter_process import MeterRequest
from cuesta.engine.local.meter_source import HERE
from tests.busy import BUSY
from tests.conftest import Write
from tests.processes import end, in_the_first_pid_namespace

AGREES = 0.05

ABSENTEE_PLAN = f"""
name = "absentee"
target = "pty:env PS1='$ ' bash --norc --noprofile"
tape = "away.tape"
users = 1
stagger = "0s"
settle = "0s"
measure = "12s"
{BUSY}
"""

BURN = """
import os, resource, sys, time
while time.process_time() < float(sys.argv[2]): pass
used = resource.getrusage(resource.RUSAGE_SELF)
with open(sys.argv[1], "a") as log: log.write(f"{used.ru_utime + used.ru_stime}\\n")
"""


def log_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in file.read_text().splitlines()]


def does(shell: subprocess.Popen[str], command: str) -> None:
    """Send a command to a shell, and wait until it has run."""
    assert answer(shell, f"{command}\necho done") == "done\n"


def answer(program: subprocess.Popen[str], order: str) -> str:
    """Send a request to a program and wait for its answer."""
    assert program.stdin
    assert program.stdout
    program.stdin.write(f"{order}\n")
    program.stdin.flush()
    return program.stdout.readline()


def started(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


WAYS = {
    "nohup": "nohup {burn} >/dev/null 2>&1 &",
    "setsid": "setsid -f {burn}",
    "tmux": "tmux -S {folder}/tmux -f /dev/null new-session -d '{burn}'",
    "screen": "screen -c /dev/null -dmS cuesta-{pid} {burn}",
}


@pytest.mark.parametrize("way", WAYS)
def test_programs_that_outlive_their_session_are_metered(tmp_path: Path, way: str) -> None:
    assert shutil.which(way), f"{way} is missing: scripts/setup --tests installs it"
    log = tmp_path / "log"
    os.mkfifo(log)
    (tmp_path / "burn.py").write_text(BURN)
    burn = f"{sys.executable} {tmp_path}/burn.py {log} 0.5"
    with started("sh") as shell, started(*HERE) as meter:
        request = MeterRequest(f"pid:{shell.pid}", every=3600.0)
        answer(meter, f"{request.json()}\nmark")
        does(shell, WAYS[way].format(burn=burn, folder=tmp_path, pid=os.getpid()))
        burned = float(log.read_text())  # reading the pipe waits for the burner's last message
        report = json.loads(answer(meter, "mark"))
        end([meter.pid, shell.pid])
    metered = report["own"]["seconds"]["value"]
    if not in_the_first_pid_namespace():
        assert "are missing" in " ".join(report["notes"])
        return
    # It includes the end of the interpreter, and the terminal multiplexers.
    assert burned * (1 - AGREES) <= metered <= burned * (1 + AGREES) + 0.2, (metered, burned, report["own"])


ABSENTEE = """
Set KeyRate 0
Set WaitTimeout 60s
Transaction "absentee"
  Type "({burn} &); sleep 4.5"
  Enter
  Type "exit"
  Enter
  Wait+Disconnect
End
Sleep 60m
"""


@pytest.mark.nightly
def test_work_that_an_absentee_leaves_behind_is_charged_to_it(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certifier, "WARM_UP", 0)
    monkeypatch.setattr(metering, "PATIENCE", 90.0)  # on a busy machine the meter starts slowly
    (here / "burn.py").write_text(BURN)
    write("away.tape", ABSENTEE.format(burn=f"{sys.executable} {here}/burn.py {here}/log 1"))
    plan = write("absentee.toml", ABSENTEE_PLAN)
    main(["certify", "--absentee", str(plan), "--runs", "1", "--out", "out", "--quiet"])
    # On a busy machine a late reading may exclude the timed run; its CPU account is complete nevertheless.
    timed = [here / "out" / "run-1", here / "out" / "excluded" / "run-1"]
    (meters,) = (folder / "meters.jsonl" for folder in timed if folder.exists())
    rows = [row["row"] for row in log_of(meters) if "row" in row]
    used = sum(row["own"].get("seconds", 0.0) for row in rows)
    # Each run of the method uses the same CPU time; the timed one is first.
    burned = float((here / "log").read_text().splitlines()[0])
    # It includes the shell and the start and end of the interpreter.
    assert burned * (1 - AGREES) <= used <= burned * (1 + AGREES) + 0.3, (used, burned)
