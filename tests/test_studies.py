"""Runs the short plan of each study at the real programs. `scripts/setup --tests` installs them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.engine import certifier
from cuesta.errors import Exit
from cuesta.ledger.historical import is_historical
from cuesta.plan import RawOptions, load
from tests.busy import BUSY
from tests.conftest import Write
from tests.daemons import AT_A_SHELL, busybox, sshd, telnetd
from tests.report.made_up import search

STUDIES = Path(__file__).parents[1] / "studies"

PIECES = {
    "adjust the paragraph",
    "back up lines",
    "back up words",
    "corrected line",
    "delete all",
    "forward a word",
    "go to the end",
    "insert a word",
    "kill a word",
    "line",
}


def processes_at_home(home: Path) -> list[str]:
    """Commands of the processes whose home is this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            own = f"HOME={home}".encode() in (process / "environ").read_bytes().split(b"\0")
            if own and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_bytes().decode())
        except OSError:
            pass
    return found


@pytest.mark.nightly
def test_the_emacs_study_plays_all_parts_at_real_emacs(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("cuesta.toml", BUSY)
    home = here / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    code = main(["run", str(STUDIES / "emacs" / "short.toml"), "--out", "out", "--quiet", "--json", "summary.json"])
    said = capsys.readouterr().out
    summary = json.loads((here / "summary.json").read_text())
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    for step in summary["steps"]:
        assert set(step["errors"]["by_name"]) <= {"unechoed"}, step["errors"]
        # On a busy machine Emacs may process a key and its deletion, or a last blank and Return, before it draws.
        assert step["errors"]["count"] <= 0.001 * step["keystrokes"]["count"]
        assert {each["transaction"] for each in step["classes"] if each["response"]["count"]} == PIECES
        assert step["echo"]["count"] > 1000 * step["users"]
        assert step["characters"]["in_per_s_per_user"] > 0
    assert "PUBLISHED  characters typed, a second and user" in said
    assert [each["users"] for each in summary["published"]] == [1, 35, 35]
    assert summary["published"][0]["measured"] == summary["steps"][0]["characters"]["in_per_s_per_user"]
    assert processes_at_home(home) == []


LOGIN = """#!/bin/sh
export HOME={home} TERM=xterm-256color PS1='$ '
printf 'login: '
read -r name
stty -echo
printf 'Password: '
read -r password
stty echo
printf '\n'
[ "$name $password" = "ann hunter2" ] && exec /bin/bash --norc --noprofile -i
"""


@contextmanager
def over_telnet(here: Path, home: Path) -> Iterator[list[str]]:
    """A telnet daemon that asks for name and password."""

    def daemon(shell: Path, port: int, folder: Path) -> list[str]:
        shell.write_text(LOGIN.format(home=home))
        return busybox(shell, port, folder)

    (here / "users.csv").write_text("user,password\nann,hunter2\n")
    with telnetd(daemon, here) as port:
        yield ["telnet.toml", "--target", f"telnet://127.0.0.1:{port}", "--data", "users.csv"]


@contextmanager
def over_ssh(here: Path, home: Path) -> Iterator[list[str]]:
    """OpenSSH, and a shell behind it."""
    with sshd(here, AT_A_SHELL, f"SetEnv HOME={home}") as host:
        yield ["ssh.toml", "--target", host.target]


def each_part_once(cycle: str) -> str:
    """The tape with 14 letters instead of 42: few enough to be typed at 20 keys a second.

    Emacs does not draw a character that is deleted, or a blank before a Return, if it reads both keys at once. This
    user waits between them, for longer than a busy machine keeps Emacs from reading.
    """
    once, count = re.subn("Play [A-N]{42}", "Play ABCDEFGHIJKLMN", cycle)
    assert count == 1
    waits, count = re.subn("(Backspace|Enter)(?= Type|$)", r"\1@300ms", once, flags=re.MULTILINE)
    assert count == 15
    return waits


@pytest.mark.parametrize("line", [over_telnet, pytest.param(over_ssh, marks=pytest.mark.nightly)])
def test_the_emacs_study_is_typed_over_a_network(
    line: Callable[[Path, Path], AbstractContextManager[list[str]]],
    here: Path,
    write: Write,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("cuesta.toml", BUSY)
    home = here / "throwaway"
    home.mkdir()
    study = here / "emacs"
    shutil.copytree(STUDIES / "emacs", study)
    cycle = study / "cycle.tape"
    cycle.write_text(each_part_once(cycle.read_text()))
    quick = ["--users", "1", "--key-rate", "20", "--think", "fixed 20ms", "--settle", "3s", "--measure", "30s"]
    with line(here, home) as (plan, *more):
        code = main(["run", str(study / plan), *more, *quick, "--out", "out", "--quiet", "--json", "-"])
    summary = json.loads(capsys.readouterr().out)
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert set(summary["errors"]["by_name"]) <= {"unechoed"}
    assert {each["transaction"] for each in summary["classes"] if each["response"]["count"]} == PIECES
    assert processes_at_home(home) == []


def test_the_certification_study_is_played(here: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run; whether it would be certified depends on the machine."""
    monkeypatch.setattr(certifier, "WARM_UP", 0)
    write("cuesta.toml", BUSY.replace("settled = false\n", ""))
    plan = STUDIES / "certification" / "short.toml"
    code = main(["certify", str(plan), "--runs", "1", "--out", "out", "--quiet"])
    record = json.loads((here / "out" / "record.json").read_text())
    assert (code, record["method"]["excluded"], record["grade"]) == (Exit.GOOD, {}, "observation")
    assert (record["workload"]["attached"], record["workload"]["users"]) == ("typewriter", 4)
    assert record["runs"][0]["transactions"] == 12 * 4
    assert main(["certify", "--verify", "out"]) == Exit.GOOD


def test_the_benchmark_study_is_played(here: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certifier, "WARM_UP", 0)
    write("cuesta.toml", BUSY.replace("settled = false\n", ""))
    plan = STUDIES / "benchmark" / "short.toml"
    code = main(["certify", "--absentee", str(plan), "--runs", "1", "--out", "out", "--quiet"])
    record = json.loads((here / "out" / "record.json").read_text())
    assert (code, record["method"]["excluded"]) == (Exit.GOOD, {})
    assert (record["given"]["kind"], record["workload"]["users"]) == ("benchmark", 20)
    assert record["runs"][0]["transactions"] == 20
    assert record["measurements"]["d"][0]["figure"]["value"] > 0


PASS = {"list", "open the editor", "line", "save", "leave the editor", "count", "remove"}


@pytest.mark.parametrize("server", ["openssh", "dropbear", "tinysshd", "none"])
def test_the_study_of_ssh_servers_types_at_the_real_ones(server: str, here: Path, write: Write) -> None:
    write("cuesta.toml", BUSY)
    study, folder = STUDIES / "ssh-servers", here / "server"
    own = [str(study / "servers.py"), server, "--memory", "--folder", str(folder), "--json", "server.json"]
    run = ["-m", "cuesta", "run", str(study / "short.toml"), "--out", "out", "--quiet", "--json", "run.json"]
    command = [sys.executable, *own, "--", sys.executable, *run]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode in {Exit.GOOD, Exit.LIMIT}, ended.stderr  # others may keep the machine busy
    summary = json.loads((here / "run.json").read_text())
    assert (summary["invalid_because"], summary["errors"]["count"]) == ([], 0)
    assert {each["transaction"] for each in summary["classes"] if each["response"]["count"]} == PASS
    assert summary["echo"]["count"] > 0.9 * summary["keystrokes"]["count"] > 300
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


def text_of(path: Path) -> str:
    """The text of a file of a process; empty if that has ended."""
    with suppress(OSError):
        return path.read_text()
    return ""


def test_the_figure_of_the_ssh_study_is_drawn(tmp_path: Path) -> None:
    servers = ("openssh", "dropbear", "tinysshd")
    for server in servers:
        search(tmp_path / server)
    command = [sys.executable, str(STUDIES / "ssh-servers" / "plots.py"), str(tmp_path)]
    drawn = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert drawn.startswith("<svg")
    assert all(server in drawn for server in servers)


CONFIGURATIONS = [(path, hold) for path in ("user", "kernel") for hold in ("off", "20ms")]


def test_the_tmux_study_types_in_all_four_configurations(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """In each step TMux sends fewer packets and takes longer; what it saves the host, one measurement does not tell."""
    write("cuesta.toml", BUSY)
    code = main(["run", str(STUDIES / "tmux" / "short.toml"), "--out", "out", "--quiet", "--json", "summary.json"])
    said = capsys.readouterr().out
    summary = json.loads((here / "summary.json").read_text())
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    steps = {(step["swept"]["host.path"], step["swept"]["tmux"], step["users"]): step for step in summary["steps"]}
    assert set(steps) == {(*configuration, users) for configuration in CONFIGURATIONS for users in (5, 25, 100)}
    for (path, hold, users), step in steps.items():
        assert step["errors"]["count"] == 0
        assert step["transactions"]["count"] == pytest.approx(5 * users * step["seconds"], rel=0.1)
        assert step["host"]["cpu_per_keystroke"] > 0
        assert (step["host"]["builtin"]["in_kernel"] or 0) >= (0.99 if path == "kernel" else 0)
        assert (step["tmux"] is None) == (hold == "off")
        if hold != "off":
            without = steps[path, "off", users]
            assert step["wire"]["packets_per_keystroke"] < 0.7 * without["wire"]["packets_per_keystroke"]
            assert step["response"]["p50"] > without["response"]["p50"] + 0.010
            assert step["tmux"]["segments_per_datagram"] > 1.5
            assert step["tmux"]["driver"]["plain"] == step["tmux"]["host"]["plain"] == 0
    assert said.count("in brackets: as published in P. Cameron") == 4
    assert re.search(r"25 .*\(6\) .*\(53\) .*\(40\) .*\(60\) .*\(40\)", said), "a row of 1993 beside the measured one"
    assert "measured fewer than 4 times each" in said


def test_the_tmux_study_is_played_at_9600_baud_by_a_flag(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command of the study's README."""
    command = ["run", str(STUDIES / "tmux" / "plan.toml"), "--line-speed", "9600"]
    assert "studies/tmux/plan.toml --line-speed 9600 " in (STUDIES / "tmux" / "README.md").read_text()
    assert main([*command, "--dry-run"]) == Exit.GOOD
    assert "load paced:200ms, line_speed 9600," in capsys.readouterr().out


def test_the_mcs_study_goes_past_the_saturation_of_the_front_end(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """A transaction takes 30 ms of the one server, so that 33.3 a second are the most, however many are offered."""
    write("cuesta.toml", BUSY)
    code = main(["run", str(STUDIES / "mcs" / "short.toml"), "--out", "out", "--quiet", "--json", "summary.json"])
    said = capsys.readouterr().out
    summary = json.loads((here / "summary.json").read_text())
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert all(limit["ok"] for limit in summary["limits"]), "no error, no line lost"
    steps = {
        (Path(step["swept"]["tape"]).stem, step["users"], step["swept"]["think"]): step for step in summary["steps"]
    }
    assert {tape for tape, *_ in steps} == {"interactive", "output"}
    for (tape, users, _), step in steps.items():
        front_end = step["host"]["builtin"]
        assert front_end["lines"] == users
        assert step["lost_users"] == step["errors"]["count"] == 0
        if tape == "interactive":
            # The ends of the interval cut some transactions; at most one for each user waits at either end.
            cut = users / step["seconds"] / 4
            assert front_end["answered_per_s"] == pytest.approx(step["transactions"]["per_s"], rel=0.02, abs=cut)
            assert front_end["typed_per_s"] == pytest.approx(13 * front_end["served_per_s"], rel=0.1)
            assert front_end["written_per_s"] == pytest.approx(150 * front_end["answered_per_s"], rel=0.1)
            assert front_end["input_conversion"] == pytest.approx(5 / 13, rel=0.1)
            assert front_end["output_conversion"] == pytest.approx(1, rel=0.1)
            assert front_end["pool_free"] > 0.9 * front_end["pool_size"] == 0.9 * 77_504
        else:
            assert step["characters"]["line_out_per_s"] == pytest.approx(480 * users, rel=0.1)
    (past,) = summary["past_saturation"]
    assert past["most_per_s"] == pytest.approx(1 / 0.030, rel=0.05)
    assert past["offered"] > 5
    assert past["kept"] > 0.95
    assert (past["errors"], past["lost_users"]) == (0, 0)
    assert steps["interactive", 96, "exp 10s"]["transactions"]["per_s"] < 0.5 * past["most_per_s"]
    assert "past saturation: the largest throughput was 33" in said
    assert re.search(r"interactive_8 +96 +4,800 .*\(5\.2\) .*\(33\) .*\(<15%\) .*\(200\)", said), "a row of 1979"
    assert re.search(r"mr8_3 +96 +3 .*\(3\.6\) .*\(50%\) .*\(330\)", said)
    assert main(["meters", "--front-end", "out"]) == Exit.GOOD
    listing = capsys.readouterr().out
    assert "  input 0.38 (ascii/raw)" in listing
    assert "ave input message 5.00 chars" in listing
    assert "ave output message 150 chars" in listing


def test_the_bisync_study_prints_the_lines_of_1979(
    here: Path, capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    """`test_bisynchronous`: what one line of a pair sends, the other receives, at no more than the line's speed."""
    write("cuesta.toml", BUSY)
    short = ["--settle", "1s", "--measure", "5s", "--stagger", "10ms"]
    plan = str(STUDIES / "mcs" / "bisync.toml")
    code = main(["run", plan, *short, "--out", "out", "--quiet", "--json", "summary.json"])
    said, summary = capsys.readouterr().out, json.loads((here / "summary.json").read_text())
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert [step["users"] for step in summary["steps"]] == [6, 12, 18]
    assert all(limit["ok"] for limit in summary["limits"])
    for step in summary["steps"]:
        bisync, seconds = step["bisync"], step["seconds"]
        assert not any(bisync["counters"].values())
        assert len(bisync["lines"]) == step["users"]
        for line in bisync["lines"]:
            assert 700 < line["cps"] < 1200
            assert line["baud"] == pytest.approx(8 * line["cps"])
            assert line["characters_out"] % 250 == line["characters_in"] % 250 == 0
        sent, received = (sum(line[name] for line in bisync["lines"]) for name in ("characters_out", "characters_in"))
        assert bisync["characters_per_s"] == pytest.approx((sent + received) / seconds)
        # At each end of the interval a message of each line may be under way.
        assert abs(sent - received) <= 2 * 250 * step["users"]
        assert sum(line["received"] for line in bisync["lines"]) * 250 == received
        assert step["transactions"]["per_s"] == pytest.approx(bisync["messages_per_s"], rel=0.1)
    assert re.search(r"mr8_12 +12 .*\(11\.4\) .*\(<2%\)", said)
    assert re.search(r"line +SEQ +received +out +in +SECONDS +CPS +BAUD", said)
    assert main(["meters", "--front-end", "out"]) == Exit.GOOD
    listing = capsys.readouterr().out
    # Each message with CR LF; 1979 printed 252.9, with STX and ETX.
    assert "ave input message 252 chars" in listing
    assert "  input 1.00 (ascii/raw)" in listing


UNPUBLISHED = {
    "mcs/saturation",
    "ssh-servers/plan",
    "ssh-servers/short",
    "ssh-servers/logins",
    *(f"tmux/{plan}" for plan in ("holds", "event-loop", "in-kernel-controls")),
}
"""Plans of what has not been published elsewhere."""
PLANS = sorted(file for file in STUDIES.glob("*/*.toml") if not is_historical(file))


@pytest.mark.parametrize("plan", PLANS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_plans_of_studies_are_valid(plan: Path, here: Path) -> None:
    plan_of_study = load(RawOptions(plan=plan), here)
    settings = plan_of_study.settings
    is_published = bool(settings.published or settings.published_table)
    assert is_published == (f"{plan.parent.name}/{plan.stem}" not in UNPUBLISHED)
    if plan.stem == "short":
        whole = sum(step.settings.settle + step.settings.measure for step in plan_of_study.steps)
        assert whole < 60 * 10**9
