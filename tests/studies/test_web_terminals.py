"""Plays the plans of the study of web terminals at real ones."""

import json
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cuesta.errors import Exit
from studies.serving import Server, started
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.enough import LIMIT, ended_after
from tests.report.made_up import search
from tests.run_folder import RunFolder

STUDY = Path(__file__).parents[2] / "studies" / "web-terminals"
SERVERS: Mapping[str, Server] = runpy.run_path(str(STUDY / "terminals.py"))["SERVERS"]
PASS = {"list", "open the editor", "line", "save", "leave the editor", "count", "remove"}
FASTER = ("--key-rate", "100", "--think", "fixed 20ms", "--stagger", "20ms")
LATER = [each for each in SERVERS if each != "ttyd"]


@pytest.mark.parametrize("name", ["ttyd", *(pytest.param(each, marks=pytest.mark.nightly) for each in LATER)])
def test_the_people_of_the_study_work_at_a_web_terminal(name: str, here: Path, write: Write, cuesta: Cuesta) -> None:
    write("cuesta.toml", BUSY)
    with started(name, SERVERS[name], here / "server", None) as running, ended_after(60):
        data = ("--data", str(running.users)) if running.users.exists() else ()
        pace = FASTER if name == "ttyd" else ()
        plan = ("run", str(STUDY / "short.toml"), *pace, "--measure", LIMIT, "--target", running.target, *data)
        summary = cuesta(*plan, "--out", "out", "--quiet", "--json", "-").ends(Exit.INTERRUPTED).json
    assert (summary["invalid_because"], summary["errors"]["count"]) == ([], 0)
    assert {each["transaction"] for each in summary["classes"] if each["response"]["count"]} == PASS
    assert summary["echo"]["count"] > 0.9 * summary["keystrokes"]["count"] > 0
    assert summary["host"]["per_transaction"]["cpu_ms"] > 0


@pytest.mark.nightly
def test_the_script_says_what_a_session_takes(here: Path, write: Write) -> None:
    write("cuesta.toml", BUSY)
    own = [sys.executable, str(STUDY / "terminals.py"), "jupyter", "--memory", "--json", "memory.json"]
    run = [sys.executable, "-m", "cuesta", "run", str(STUDY / "short.toml"), "--out", "{server}", "--quiet"]
    ended = subprocess.run([*own, "--", *run], capture_output=True, text=True, check=False)
    assert ended.returncode in {Exit.GOOD, Exit.LIMIT}, ended.stderr  # others may keep the machine busy
    (report,) = json.loads((here / "memory.json").read_text())
    assert (report["server"], report["sessions"], report["programs"]["bash"]["processes"]) == ("jupyter", 5, 5)
    assert report["programs"]["python"]["bytes"] > 5 * 50_000  # of the server, for each session
    assert (here / "jupyter/report.html").exists()


@pytest.mark.nightly
def test_the_three_stalls_of_terminado_stand_in_its_report(here: Path, write: Write, cuesta: Cuesta) -> None:
    write("cuesta.toml", BUSY)
    shorter = ("--no-pin", "--stagger", "50ms", "--settle", "8s", "--measure", "10s")
    with started("jupyter", SERVERS["jupyter"], here / "server", None) as running:
        plan = ("run", str(STUDY / "stalls.toml"), *shorter, "--target", running.target, "--data", str(running.users))
        ended = cuesta(*plan, "--out", "out", "--quiet", "--json", "figures.json")
    steps = json.loads((here / "figures.json").read_text())["steps"]
    _, pasting, leaving, coming = (step["stalls"] for step in steps)
    assert pasting["longest"] > 1.0
    assert (leaving["count"] > 10, leaving["longest"] > 0.08) == (True, True)
    assert (coming["count"] > 3, coming["longest"] > 0.02) == (True, True)
    shown = " ".join(ended.out.split())
    assert [f"step {number}: for " in shown for number in (2, 3, 4)] == [True] * 3, shown


def test_the_table_of_the_study_fits_a_screen(tmp_path: Path) -> None:
    search(tmp_path / "limit/ttyd")
    echoes = [("interactive/keys/echo", [0.002] * 100)]
    for name in ("none", "ttyd"):
        (tmp_path / "equal").mkdir(exist_ok=True)
        RunFolder(tmp_path / "equal" / name, histograms=echoes).write()
    programs = {"bash": {"processes": 4, "bytes": 9_000_000}, "ttyd": {"processes": 0, "bytes": 480_000}}
    (tmp_path / "memory.json").write_text(json.dumps([{"server": "ttyd", "sessions": 4, "programs": programs}]))
    command = [sys.executable, str(STUDY / "table.py"), str(tmp_path)]
    rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert max(map(len, rows)) <= 80
    ttyd = next(row for row in rows if row.startswith("ttyd "))
    assert (" 2.00 ms" in ttyd, "0.12 MB" in ttyd, " to " in ttyd) == (True, True, True)
    assert any(row.startswith("ttyd: ") for row in rows)
