"""CPU time of what a host leaves behind, metered in whole runs: Cuesta's figure against the host's own log."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.engine import certifier, metering
from tests.busy import BUSY
from tests.conftest import Write
from tests.processes import end

CHECKOUT = Path(__file__).parents[1]
AGREES = 0.05

TAPE = """
Set KeyRate 50cps
Set WaitTimeout 30s
Wait+Screen /\\$/
Forever
  Transaction "{way}"
    Type "{way} {seconds}"
    Enter
    Wait+Screen /begun/
  End
  Sleep 1s
End
"""

PLAN = f"""
name = "away"
tape = "away.tape"
users = 2
stagger = "0s"
settle = "3s"
measure = "12s"
{BUSY}
"""

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


@pytest.mark.timeout(180)
@pytest.mark.parametrize("way", ["daemon", "ignored", "waited"])
def test_what_programs_on_terminals_leave_behind_is_theirs(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    write("away.tape", TAPE.format(way=way, seconds=0.25))
    host = f"env PYTHONPATH={CHECKOUT} {sys.executable} -m tests.hosts.forks_away --log {here}/log"
    write("plan.toml", PLAN)
    main(["run", "plan.toml", "--target", f"pty:{host}", "--out", "out", "--quiet", "--json", "-"])
    summary = json.loads(capsys.readouterr().out)
    sheet = summary["host"]["sheet"]
    begun, ended = sheet["at"] - int(sheet["seconds"] * 1e9), sheet["at"]
    # A process that burns across a bound counts by its part: it burned at the pace of its life.
    rows = [row for row in log_of(here / "log") if row["did"] == "burned"]
    within = [row for row in rows if begun <= row["at"] <= ended]
    assert len(within) >= 6, rows
    burned = sum(row["cpu"] for row in within)
    metered = sheet["own"]["seconds"]["value"]
    # At each bound of the interval one process of each of the two users may be cut.
    edges = 4 * 0.25
    assert burned * (1 - AGREES) - edges <= metered <= burned * (1 + AGREES) + edges, (metered, burned)
    assert metered > 0.8 * burned
    assert summary["host"]["meters"]["accounting"] == "exit_records"


def does(shell: subprocess.Popen[str], command: str) -> None:
    """Have a shell do something, and wait until it has."""
    assert answer(shell, f"{command}\necho done") == "done\n"


def answer(program: subprocess.Popen[str], order: str) -> str:
    """Give a program an order and wait for its answer."""
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


@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_started_to_outlive_its_session_is_metered(tmp_path: Path, way: str) -> None:
    assert shutil.which(way), f"{way} is missing: scripts/setup --tests installs it"
    log = tmp_path / "log"
    os.mkfifo(log)
    (tmp_path / "burn.py").write_text(BURN)
    burn = f"{sys.executable} {tmp_path}/burn.py {log} 2"
    meters = (sys.executable, "-m", "cuesta", "meters", "1h", "--json", "--attached", "--subject")
    with started("sh") as shell, started(*meters, f"pid:{shell.pid}") as meter:
        answer(meter, "mark")
        does(shell, WAYS[way].format(burn=burn, folder=tmp_path, pid=os.getpid()))
        burned = float(log.read_text())  # it is a pipe: this waits for the burner's last word
        sheet = json.loads(answer(meter, "mark"))
        end([meter.pid, shell.pid])
    metered = sheet["own"]["seconds"]["value"]
    # The interpreter's own end is in it too, and the terminal multiplexers'.
    assert burned * (1 - AGREES) <= metered <= burned * (1 + AGREES) + 0.2, (metered, burned, sheet["own"])


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


@pytest.mark.timeout(240)
def test_an_absentee_that_leaves_work_behind_is_charged_with_it(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certifier, "WARM_UP", 0)
    monkeypatch.setattr(metering, "PATIENCE", 90.0)  # a busy machine's meter takes its time to start
    (here / "burn.py").write_text(BURN)
    write("away.tape", ABSENTEE.format(burn=f"{sys.executable} {here}/burn.py {here}/log 1"))
    plan = write("absentee.toml", ABSENTEE_PLAN)
    main(["certify", "--absentee", str(plan), "--runs", "1", "--out", "out", "--quiet"])
    # On a busy machine a reading may come late, and the run does not count: its account is whole all the same.
    (meters,) = (here / "out").rglob("meters.jsonl")
    rows = [row["row"] for row in log_of(meters) if "row" in row]
    used = sum(row["own"].get("seconds", 0.0) for row in rows)
    burned = sum(float(row) for row in (here / "log").read_text().splitlines())
    # The shell and the interpreter's start and end are in it too.
    assert burned * (1 - AGREES) <= used <= burned * (1 + AGREES) + 0.3, (used, burned)
