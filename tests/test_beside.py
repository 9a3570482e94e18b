"""Runs beside a neighbour, and with several sessions at once: what either costs the typist, at programs of ours."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write

PROGRAMS = Path(__file__).parent / "programs"
TAPE = 'Set KeyRate 8cps\nSet Echo timed\nForever\n  Type "abcdefgh"\nEnd\n'
STREAM = 'Set Echo off\nType "x" Enter\nForever\n  Sleep 1s\nEnd\n'


@contextmanager
def one_thread() -> Iterator[str]:
    """A server that serves all its sessions in one thread; its target."""
    with subprocess.Popen([sys.executable, PROGRAMS / "one_thread.py"], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            yield f"tcp://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.kill()


def play(write: Write, cuesta: Cuesta, target: str, beside: str) -> tuple[Any, Any]:
    """Play a typist alone, then beside a command, while the line stays open; the figures of both."""
    write("type.tape", TAPE)
    sweep = f"[sweep]\nbeside = {json.dumps(['off', beside])}\n"
    write("plan.toml", f'tape = "type.tape"\nsettle = "1s"\nmeasure = "2s"\n{BUSY}{sweep}')
    ended = cuesta("run", "plan.toml", "--target", target, "--quiet", "--out", "out", "--json", "-")
    alone, accompanied = ended.ends().json["steps"]
    assert alone["neighbour"] is None
    ran = accompanied["neighbour"]
    assert (ran["command"], ran["starts"], ran["seconds"]) == (beside, 1, pytest.approx(accompanied["seconds"]))
    return alone, accompanied


def test_an_echo_that_needs_what_the_neighbour_holds_takes_longer(here: Path, write: Write, cuesta: Cuesta) -> None:
    """A lock, held for 400 ms, again and again."""
    target = f"pty:{sys.executable} {PROGRAMS / 'locked_echo.py'} lock"
    alone, beside = play(write, cuesta, target, "while :; do flock lock sleep 0.4; done")
    assert beside["echo"]["p50"] > max(0.1, 3 * alone["echo"]["p50"])


@pytest.mark.quiet
@pytest.mark.nightly
def test_an_echo_that_needs_the_neighbours_cpu_takes_longer(here: Path, write: Write, cuesta: Cuesta) -> None:
    """Six busy loops, each in a session of its own, on the CPU of a program that needs 20 ms of it for each key."""
    busy = "for i in 1 2 3 4 5 6; do setsid taskset -c 0 sh -c 'while :; do :; done' & done; wait"
    alone, beside = play(write, cuesta, f"pty:{sys.executable} {PROGRAMS / 'slow_echo.py'} 0", busy)
    assert beside["echo"]["p50"] > 1.3 * alone["echo"]["p50"]


@pytest.mark.quiet
@pytest.mark.nightly
def test_the_driver_is_on_time_beside_busy_loops(here: Path, write: Write, cuesta: Cuesta) -> None:
    """Four on each CPU, each in a session of its own: as any other program it would be late by some milliseconds."""
    loops = "for i in $(seq $(($(nproc) * 4))); do setsid sh -c 'while :; do :; done' & done; wait"
    alone, beside = play(write, cuesta, "pty:cat", loops)
    assert beside["lateness"]["p90"] < max(0.001, 3 * alone["lateness"]["p90"])


def test_a_run_is_not_valid_if_nothing_ran_beside_it(here: Path, write: Write, cuesta: Cuesta) -> None:
    write("type.tape", TAPE)
    write("plan.toml", f'tape = "type.tape"\nsettle = "200ms"\nmeasure = "1s"\n{BUSY}')
    arguments = ("run", "plan.toml", "--target", "pty:cat", "--beside", "echo 'no \x1b[31mtool' >&2; exit 3", "--quiet")
    ended = cuesta(*arguments, "--out", "out").ends(Exit.INVALID)
    assert "ended with code 3, and said: no" in ended.row
    assert "\x1b" not in ended.out


def test_other_sessions_of_one_process_delay_the_typist(here: Path, write: Write, cuesta: Cuesta) -> None:
    """With seven others the one thread is taken for 140 of 200 ms, and keys come at eight instants of these."""
    write("type.tape", TAPE)
    write("stream.tape", STREAM)
    write("plan.toml", f'tape = "type.tape"\nsettle = "1s"\nmeasure = "2s"\nstagger = "20ms"\n{BUSY}')
    with one_thread() as target:
        flags = ("--target", target, "--sessions", "1,8", "--sessions-tape", "stream.tape")
        ended = cuesta("run", "plan.toml", *flags, "--quiet", "--out", "out", "--json", "-")
    alone, beside = ended.ends().json["steps"]
    assert [(step["users"], step["background"]) for step in (alone, beside)] == [(1, 0), (8, 7)]
    assert beside["echo"]["p50"] > max(0.01, 3 * alone["echo"]["p50"])
    assert beside["keystrokes"]["count"] == beside["lateness"]["count"] <= 17
