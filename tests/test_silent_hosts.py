"""Hosts that answer nothing, or half, or stop in the middle: by the clock, held against their own log."""

import json
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write
from tests.daemons import busybox, free_port, listening

CHECKOUT = Path(__file__).parents[1]
TAPE = r"""
Wait /\$ $/
Forever
  Type "hello"
  Enter
  Wait+Prompt
  Think fixed 100ms
End
"""
TYPIST = r"""
Set Echo timed
Set KeyRate 10cps
Wait /\$ $/
Forever
  Type "hello "
End
"""
PLAN = (
    """
tape = "users.tape"
users = 4
stagger = "20ms"
settle = "500ms"
measure = "6s"
limits = ["response.p99 < 10s", "errors.rate < 100%"]
"""
    + BUSY
    + "lost_users = 1\n"
)

Row = dict[str, Any]


def command(host: str, log: Path) -> str:
    """Give the command that starts a host of tests/hosts."""
    return f"env PYTHONPATH={CHECKOUT} {sys.executable} -m tests.hosts.{host} --log {log}"


@contextmanager
def at_pty(host: str, here: Path) -> Iterator[str]:
    yield f"pty:{command(host, here / 'log')}"


@contextmanager
def at_tcp(host: str, here: Path) -> Iterator[str]:
    started = command(host, here / "log").split()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            subprocess.run(started, stdin=self.request, stdout=self.request, check=False)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"tcp://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def at_telnet(host: str, here: Path) -> Iterator[str]:
    shell, port = here / "shell", free_port()
    shell.write_text(f"#!/bin/sh\nexec {command(host, here / 'log')}\n")
    shell.chmod(0o755)
    with listening(busybox(shell, port, here), port, here):
        yield f"telnet://127.0.0.1:{port}"


LINES = [at_pty, at_tcp, at_telnet]


class Run:
    """A run, and what its host says of itself."""

    def __init__(self, code: int, summary: Row, here: Path) -> None:
        self.code, self.summary = code, summary
        self.log: list[Row] = [json.loads(row) for row in (here / "log").read_text().splitlines()]
        timeline = json.loads((here / "out" / "agent-0" / "timeline.json").read_text())
        self.end: int = timeline["start_at"] + timeline["steps"][0]["end"]

    def before_the_end(self, did: str) -> list[Row]:
        """Give what the host did until measuring ended, by its own log."""
        return [row for row in self.log if row["did"] == did and row["at"] < self.end]


Play = Callable[..., Run]


@pytest.fixture
def play(here: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> Iterator[Play]:
    """Give a function that has users at a host of tests/hosts."""
    with ExitStack() as stack:

        def go(line: Any, host: str, tape: str = TAPE) -> Run:
            write("users.tape", tape)
            write("plan.toml", PLAN)
            target = stack.enter_context(line(host, here))
            code = main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet", "--json", "-"])
            return Run(code, json.loads(capsys.readouterr().out), here)

        yield go


@pytest.mark.parametrize("line", LINES)
def test_a_frozen_host_is_not_valid(play: Play, line: Any) -> None:
    run = play(line, "freezes")
    assert run.code == Exit.INVALID
    assert run.summary["invalid_because"][0].startswith("the host answered nothing: 4 users have waited for up to ")
    assert [(each["value"], each["ok"]) for each in run.summary["limits"]] == [(None, False)] * 2
    assert run.summary["transactions"]["count"] == 0
    # Nobody waited for longer than since the first prompt, nor for less than since the first row was read.
    prompted = min(row["at"] for row in run.before_the_end("prompt"))
    asked = min(row["at"] for row in run.before_the_end("read") if "\r" in row["bytes"] or "\n" in row["bytes"])
    assert (run.end - asked) / 1e9 <= run.summary["waiting"]["oldest"] <= (run.end - prompted) / 1e9


@pytest.mark.parametrize("line", LINES)
def test_a_frozen_host_is_not_valid_for_who_only_types(play: Play, line: Any) -> None:
    run = play(line, "freezes", TYPIST)
    assert run.code == Exit.INVALID
    said = run.summary["invalid_because"][0]
    typed = sum(len(row["bytes"]) for row in run.before_the_end("read"))
    if line is at_pty or line is at_telnet:
        # Until the host has its terminal raw, the kernel may echo a key or two for it.
        assert "the host echoed" in said
    else:
        assert said.startswith("the host echoed nothing of ")
    assert run.summary["waiting"]["keys"] + run.summary["errors"]["by_name"].get("unechoed", 0) >= typed * 0.5
    assert not any(each["ok"] for each in run.summary["limits"])


@pytest.mark.parametrize("line", LINES)
def test_a_host_that_closes_half_way_is_not_valid(play: Play, line: Any) -> None:
    run = play(line, "closes_halfway")
    assert run.code == Exit.INVALID
    said = run.summary["invalid_because"][0]
    assert said.startswith("the host answered nothing: ")
    assert "lost before the answer" in said
    assert run.summary["transactions"]["count"] == 0
    assert 0 < run.summary["unanswered"] <= len(run.before_the_end("closed"))
    assert not any(each["ok"] for each in run.summary["limits"])


def test_a_host_that_stops_in_the_middle_is_not_valid(play: Play) -> None:
    tape = TAPE.replace("Forever", "Repeat 10") + 'Type "freeze"\nEnter\nWait+Prompt\n'
    run = play(at_pty, "freezes_midway", tape)
    assert run.code == Exit.INVALID
    said = [said for said in run.summary["invalid_because"] if "had no answer at the end" in said]
    assert said[0].startswith("4 transactions had no answer at the end: the oldest had waited ")
    assert not run.summary["errors"]["count"]
    # By the host's own log all was well until it froze.
    assert 0 < run.summary["transactions"]["count"] <= len(run.before_the_end("answer"))
    frozen = min(row["at"] for row in run.before_the_end("frozen"))
    assert run.summary["waiting"]["oldest"] >= (run.end - frozen) / 1e9


BUILTIN = (
    """
users = 6
stagger = "10ms"
settle = "500ms"
line_speed = 0
think = "exp 200ms"
key_rate = 50
limits = ["response.p99 < 10s"]
"""
    + BUSY
)


def at_the_builtin(write: Write, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, Row]:
    write("plan.toml", BUILTIN)
    code = main(["run", "plan.toml", "--out", "out", "--quiet", "--json", "-", *more])
    return code, json.loads(capsys.readouterr().out)


def test_a_slow_host_that_answers_is_valid(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    code, summary = at_the_builtin(write, capsys, "--host", "delay=2500ms", "--measure", "6s")
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert summary["response"]["min"] >= 2.49


def test_sessions_that_find_no_user_are_accounted_for(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    load = ("--load", "open:50/s:sessions", "--users", "3", "--measure", "3s")
    code, summary = at_the_builtin(write, capsys, *load)
    due = summary["due"]
    assert due["count"] == due["done"] + due["under_way"] + due["waiting"] + due["skipped"]
    # 150 on the average; fewer than 90, or more than 210, one time in a million.
    assert 90 < due["count"] < 210
    assert code == Exit.INVALID
    assert "were never begun" in summary["invalid_because"][0]
    assert summary["response"]["p50"] > 0.5, "waiting for a free user is response"


def test_sessions_that_find_their_users_are_valid(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    load = ("--load", "open:2/s:sessions", "--users", "20", "--measure", "5s")
    code, summary = at_the_builtin(write, capsys, *load)
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert summary["due"]["adds_up"]
    assert summary["due"]["waiting"] + summary["due"]["skipped"] == 0
