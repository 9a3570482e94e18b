"""Whole searches: at hosts that give out, killed and resumed, at a real telnet daemon, and with a driver without CPU.

Each is judged by the host's own log.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.models.network import Network, Station
from cuesta.errors import Exit
from tests.analysis.solved import solve
from tests.busy import BUSY
from tests.daemons import free_port, listening
from tests.hosts import burns
from tests.hosts.lines import host, over_telnet
from tests.processes import command_of, descendants, end

ROW = """
Set KeyRate 20cps
Forever
  Transaction "row"
    Type "who"
    Enter
    Wait+Bytes@5s 6
  End
  Think exp 500ms
End
"""
SHORT = ["--settle", "1s", "--measure", "4s", "--stagger", "20ms"]
ABOVE = 20
"""Lines above which the hosts that give out do."""
BUDGET = 20
"""Seconds of a search."""


def plan(folder: Path, tape: str = ROW, validity: str = BUSY) -> Path:
    (folder / "row.tape").write_text(tape)
    file = folder / "search.toml"
    file.write_text(f'name = "search"\ntape = "row.tape"\n{validity}')
    return file


def command(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "cuesta", "search", *words, "--quiet", "--json", str(folder / "outcome.json")]


def outcome(folder: Path) -> dict[str, Any]:
    """The object that `--json` wrote."""
    written: dict[str, Any] = json.loads((folder / "outcome.json").read_text())
    return written


def steps(run: Path) -> list[dict[str, Any]]:
    recorded: list[dict[str, Any]] = json.loads((run / "run.json").read_text())["steps"]
    return recorded


@contextmanager
def giving_out(folder: Path, how: str) -> Iterator[tuple[str, Path]]:
    """A host of `tests.hosts.gives_out`: its target and its log."""
    log, port = folder / "host.log", free_port()
    words = ["--port", str(port), "--above", str(ABOVE), "--how", how]
    with listening([*host("gives_out", log), *words], port, folder):
        yield f"tcp://127.0.0.1:{port}", log


def rows(log: Path, did: str) -> list[dict[str, Any]]:
    return [row for row in map(json.loads, log.read_text().splitlines()) if row["did"] == did]


def test_a_search_that_was_killed_goes_on_and_users_keep_their_lines(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with giving_out(tmp_path, "refuse") as (target, log):
        words = [str(plan(tmp_path)), "--target", target, "--users", "4", "--limit", "response.mean < 3s", *SHORT]
        first = subprocess.Popen(command(tmp_path, *words, "--out", str(run)), stderr=subprocess.DEVNULL)
        try:
            wait_for_trials(run, 2, first)
        finally:
            end([first.pid, *descendants(first.pid)])
            first.wait()
        before = len(rows(log, "opened"))
        words = ["--resume", str(run), "--budget", f"{BUDGET}s"]
        resumed = subprocess.run(command(tmp_path, *words), capture_output=True, text=True, check=False, timeout=100)
        assert resumed.returncode == Exit.REFUSED, resumed.stderr
    recorded = json.loads((run / "run.json").read_text())
    assert [each["folder"] for each in recorded["segments"]] == [".", "segment-2"]
    users = [step["swept"]["users"] for step in recorded["steps"]]
    assert users[:3] == [4, 8, 8], "the trial that was cut short is repeated"
    assert before <= 1 + 8
    most = max(users[2:])
    assert len(rows(log, "opened")) - before == 1 + most, "each user has one line, and the preflight has one"
    search = outcome(tmp_path)["search"]
    assert search["limited_by"] == "budget"
    assert search["interval"][1] is None


@pytest.mark.parametrize(
    ("how", "says"),
    [
        pytest.param(signal.SIGKILL, "agent 1: it was killed by signal 9", id="dies"),
        pytest.param(
            signal.SIGSTOP,
            r"agent 1: it said nothing for [56]\.\d s: it was stopped, or its link was cut",
            id="stalls",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_search_that_loses_an_agent_is_invalid_and_says_what_it_found(
    tmp_path: Path, how: signal.Signals, says: str
) -> None:
    run = tmp_path / "run"
    words = [str(plan(tmp_path)), "--users", "4", "--agents", "2", "--limit", "response.mean < 3s", *SHORT]
    searching = command(tmp_path, *words, "--out", str(run), "--budget", "5m")
    process = subprocess.Popen(searching, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_trials(run, 2, process)
        agents = [pid for pid in descendants(process.pid) if b"cuesta.engine.local.agent_process" in command_of(pid)]
        os.kill(agents[1], how)
        _, said = process.communicate(timeout=100)
    finally:
        end([process.pid, *descendants(process.pid)])
        process.wait()
    assert process.returncode == Exit.INVALID, said
    assert re.search(says, said)
    assert outcome(tmp_path)["search"]["interval"] == [4, None]


def wait_for_trials(run: Path, number: int, searching: "subprocess.Popen[Any]") -> None:
    """Wait until a number of trials have begun."""
    until = time.monotonic() + 100
    while not (run / "run.json").exists() or len(steps(run)) < number:
        assert searching.poll() is None
        assert time.monotonic() < until
        signal.sigtimedwait([], 0.1)


HOW = {
    "refuse": ("refuses", "line|refused"),
    "reset": ("resets", "reset"),
    "freeze": ("freezes", "timed out|timeout"),
    "memory": ("killed", "closed"),
}
"""By how a host gives out: what its log says then; and a word of the search's reason, or either of two."""


@pytest.mark.nightly
@pytest.mark.timeout(2000)
def test_a_host_that_gives_out_ends_the_search_with_a_limit_and_a_reason(tmp_path: Path) -> None:
    def searched(how: str) -> tuple[str, int, dict[str, Any], list[dict[str, Any]]]:
        folder, (did, _) = tmp_path / how, HOW[how]
        folder.mkdir()
        with giving_out(folder, how) as (target, log):
            words = [str(plan(folder)), "--target", target, "--users", "16", "--limit", "response.p95 < 500ms", *SHORT]
            done = subprocess.run(
                command(folder, *words, "--budget", "30m", "--out", str(folder / "run")),
                capture_output=True, text=True, check=False, timeout=1900,
            )  # fmt: skip
            gave_out = rows(log, did)
        return how, done.returncode, outcome(folder), gave_out

    with ThreadPoolExecutor(len(HOW)) as threads:
        for how, code, written, gave_out in threads.map(searched, HOW):
            search = written["search"]
            assert code == Exit.GOOD, (how, search)
            assert search["limited_by"].startswith("host"), (how, search)
            low, high = search["interval"]
            assert low <= ABOVE <= high, (how, search)
            assert search["breach"] is None or search["users"] < search["breach"], (how, search)
            assert search["certified"] is None or search["certified"] <= ABOVE, (how, search)
            assert re.search(HOW[how][1], search["why"]), (how, search)
            assert gave_out, f"{how}: the host was not tried beyond its limit"
            assert how != "memory" or gave_out[-1]["oom_kills"] == len(gave_out), "the kernel killed them for memory"


@contextmanager
def on_cpu(cpu: int, words: Sequence[str]) -> Iterator[int]:
    """Run a command on one CPU; it and its descendants are killed at the end."""
    process = subprocess.Popen(["taskset", "-c", str(cpu), *words], stdout=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        end([process.pid, *descendants(process.pid)])
        process.wait()


@pytest.mark.nightly
@pytest.mark.quiet
@pytest.mark.timeout(1800)
def test_a_telnet_daemon_saturates_where_its_cpu_says(tmp_path: Path) -> None:
    """The daemon has one CPU that its users share, so the exact means of a closed network hold for any distribution.

    The objective is the mean response that theory gives at N* = (Z + K + S) / S: the search must find N*.
    """
    tape = ROW.replace("Set KeyRate 20cps", "Set KeyRate 40cps").replace("exp 500ms", "exp 1s")
    think, keying = 1.0, 4 / 40
    capacity = (think + keying + burns.CPU) / burns.CPU
    at_capacity = solve(Network([Station("cpu", burns.CPU)], think + keying), round(capacity)).response
    with over_telnet(host("burns", tmp_path / "host.log"), tmp_path, metered=True) as reached:
        daemon = int(reached.meters.removeprefix("pid:"))
        subprocess.run(["taskset", "-a", "-c", "-p", "1", str(daemon)], check=True, stdout=subprocess.DEVNULL)
        words = [str(plan(tmp_path, tape, "")), "--target", reached.target, "--meters", reached.meters, "--users", "16"]
        objective = ["--limit", f"response.mean < {1e3 * at_capacity:.0f}ms", "--settle", "3s", "--measure", "15s"]
        searching = command(tmp_path, *words, *objective, "--stagger", "200ms", "--out", str(tmp_path / "run"))
        done = subprocess.run(
            ["taskset", "-c", "0", *searching], capture_output=True, text=True, check=False, timeout=1700
        )
    search = outcome(tmp_path)["search"]
    assert done.returncode == Exit.GOOD, (done.stderr, search)
    assert search["users"] == pytest.approx(capacity, rel=0.1), search
    assert search["limited_by"] == "host"


@pytest.mark.nightly
@pytest.mark.quiet
@pytest.mark.timeout(1200)
def test_a_driver_without_cpu_is_called_the_limit(tmp_path: Path) -> None:
    """Twelve others want its CPU, so that it waits for longer than it may be late, however quick the machine is."""
    burner = [sys.executable, "-c", "while True: pass"]
    words = [str(plan(tmp_path, validity="")), "--users", "400", "--limit", "response.p95 < 10s", *SHORT]
    words += ["--stagger", "5ms"]
    searching = command(tmp_path, *words, "--host", "service=transaction 6", "--out", str(tmp_path / "run"))
    with ExitStack() as others:
        for _ in range(12):
            others.enter_context(on_cpu(0, burner))
        done = subprocess.run(["taskset", "-c", "0", *searching], capture_output=True, text=True, check=False)
    search = outcome(tmp_path)["search"]
    assert done.returncode == Exit.REFUSED, (done.stderr, search)
    assert search["limited_by"] == "driver", search
