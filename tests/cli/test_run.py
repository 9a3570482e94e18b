"""Whole runs through the command: a few seconds each, with the real driver and the real host."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Ended, Write
from tests.enough import measured, wait_until
from tests.processes import command_of, descendants, end

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
LONG = ("login-node", "sweep")
"""Examples that keep the CPUs busy for long, or that take long."""

QUICK = (
    """
name = "quick"
users = 6
stagger = "10ms"
settle = "500ms"
measure = "2s"
line_speed = 0
think = "exp 200ms"
key_rate = 50
"""
    + BUSY
)


def play(cuesta: Cuesta, *arguments: str) -> Ended:
    return cuesta("run", *arguments, "--quiet", "--json", "-")


def test_a_run_leaves_a_record_and_a_summary(here: Path, write: Write, cuesta: Cuesta) -> None:
    write("quick.toml", QUICK)
    summary = play(cuesta, "quick.toml", "--out", "out", "--limit", "errors.count == 0").ends().json
    assert (summary["valid"], summary["users"]) == (True, 6)
    assert summary["response"]["count"] == summary["transactions"]["count"] > 0
    assert summary["limits"][0]["ok"] is True
    names = {str(path.relative_to(here / "out")) for path in (here / "out").rglob("*") if path.is_file()}
    assert names >= {"run.json", "summary.json", "report.html", "agent-0/histograms.hlog", "host/series.jsonl"}
    record = json.loads((here / "out" / "run.json").read_text())
    assert record["plan"]["group"][0]["users"] == 6
    assert record["segments"] == [{"folder": ".", "steps": [0]}]


def test_a_limit_that_is_crossed_has_its_own_exit_code(write: Write, cuesta: Cuesta) -> None:
    write("quick.toml", QUICK)
    summary = play(cuesta, "quick.toml", "--limit", "throughput > 1000000").ends(Exit.LIMIT).json
    assert [limit["ok"] for limit in summary["limits"]] == [False]


def test_a_run_that_cannot_be_trusted_has_its_own_exit_code(write: Write, cuesta: Cuesta) -> None:
    write("quick.toml", QUICK.replace('lateness_p99 = "10s"', 'lateness_p99 = "1ns"'))
    assert "late" in play(cuesta, "quick.toml").ends(Exit.INVALID).json["invalid_because"][0]


def test_agents_share_the_users(here: Path, write: Write, cuesta: Cuesta) -> None:
    write("quick.toml", QUICK)
    assert play(cuesta, "quick.toml", "--agents", "2", "--out", "out").ends().json["users"] == 6
    files = [here / "out" / f"agent-{agent}" / "users.jsonl" for agent in (0, 1)]
    played = [{json.loads(row)["user"] for row in file.read_text().splitlines()} for file in files]
    assert played == [{0, 2, 4}, {1, 3, 5}]


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run cuesta in a separate process, and wait until it measures."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cuesta", "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        for row in process.stderr:
            if row.startswith("measure"):
                break
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_was_measured(here: Path, write: Write, how: signal.Signals) -> None:
    write("quick.toml", QUICK)
    with running("quick.toml", "--measure", "60s", "--out", "out") as process:
        wait_until(lambda: measured(here / "out") > 0, process)
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED
    assert "what was measured is kept" in err
    assert "Traceback" not in err
    assert "RESPONSE" in out
    assert json.loads((here / "out" / "agent-0" / "agent.json").read_text())["ended"] == "interrupted"
    assert json.loads((here / "out" / "summary.json").read_text())["transactions"]["count"] > 0


def test_a_second_interrupt_ends_at_once(here: Path, write: Write) -> None:
    write("quick.toml", QUICK)
    with running("quick.toml", "--measure", "60s", "--out", "out") as process:
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        assert any("again to end at once" in row for row in process.stderr)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED
    assert out == ""


def test_files_of_the_current_folder_are_no_modules_of_cuesta(here: Path, write: Write, cuesta: Cuesta) -> None:
    for name in ("json.py", "random.py", "types.py"):
        write(name, "raise SystemExit('a module of somebody else')")
    flags = ("--users", "4", "--settle", "0s", "--measure", "2s", "--beside", "sleep 9", "--meters", "plain")
    # With such a module an agent would not start: Exit.FAILED.
    assert play(cuesta, *flags).code in (Exit.GOOD, Exit.INVALID)


def test_an_agent_that_dies_makes_the_run_invalid(here: Path, write: Write) -> None:
    write("quick.toml", QUICK)
    with running("quick.toml", "--measure", "6s", "--agents", "2", "--out", "out") as process:
        agents = [pid for pid in descendants(process.pid) if b"cuesta.engine.local.agent_process" in command_of(pid)]
        end(agents[1:])
        _, err = process.communicate(timeout=60)
    assert process.returncode == Exit.INVALID
    assert "agent 1: it was killed by signal 9" in err
    first, *others = json.loads((here / "out" / "summary.json").read_text())["invalid_because"]
    assert re.match(r"agent 1 was killed by signal 9 after \d s; what it had recorded is kept;", first)
    assert not any("cut off" in other for other in others)


@pytest.mark.parametrize(
    "plan",
    [pytest.param(plan, marks=[pytest.mark.nightly] * (plan.stem in LONG), id=plan.stem) for plan in EXAMPLES],
)
def test_examples_run(plan: Path, here: Path, cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here))  # editors write files into it
    ended = play(cuesta, str(plan), "--settle", "1s", "--measure", "2s")
    # The machine may be busy, and so short a run may not decide a limit, but the example must be correct.
    assert ended.code in (Exit.GOOD, Exit.INVALID, Exit.INCONCLUSIVE)
    assert ended.json["keystrokes"]["count"] > 0
    assert ended.json["errors"]["count"] == 0
