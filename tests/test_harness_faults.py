"""Faults of the harnesses that projects wrote to time typing in CI, played: none of them misleads Cuesta.

They took a frame of several keys for the echo of one, typed ASCII only, and looked at the screen every few
milliseconds: here the program keeps a log of when it read and showed each key. They typed into a login screen, which
`test_ready.py` plays, and judged from ten keys: `analysis/compare/test_versions.py`, `pytest_plugin/test_outcomes.py`.
"""

import json
import shlex
import statistics
import sys
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.enough import ended_after

PROGRAM = Path(__file__).parent / "programs" / "draws_in_frames.py"
FRAME = 0.15
"""Seconds from a key to the frame that shows it and those after it."""
PHRASES = {"ASCII": "count the keys of this row", "wide": "漢字かな交じりの文を数える"}
TAPE = """
Set KeyRate 20cps
Set KeyLaw human
Set Echo screen
Wait+Ready
Forever
  Transaction "text"
    Type "{phrase}"
    Wait+Echo
  End
  Sleep 300ms
  Backspace@40ms {length}
  Sleep 600ms
End
"""
PLAN = f"""
tape = "text.tape"
users = 1
settle = "100ms"
measure = "60s"
{BUSY}
"""
AGREES = 0.01
"""Seconds by which a median may differ from the log's beside other tests. One key earlier or later is 50 ms."""
POLLED = 0.002
"""Seconds by which the median may differ: a harness that looks every 5 ms is 2.5 ms late at the median."""


@pytest.mark.nightly
@pytest.mark.parametrize("phrase", PHRASES.values(), ids=PHRASES)
def test_a_frame_of_several_keys_gives_each_its_own_echo(here: Path, write: Write, cuesta: Cuesta, phrase: str) -> None:
    echo = measure(here, write, cuesta, phrase, FRAME)
    log = [row for row in read_log(here) if row["key"] in phrase]
    assert shared(log) > len(log) / 2, "the program draws several keys at once"
    assert echo["p50"] == pytest.approx(typical_echo(log), abs=AGREES)
    assert echo["max"] > FRAME * 0.95


@pytest.mark.nightly
@pytest.mark.quiet
def test_an_echo_is_told_finer_than_a_look_at_the_screen_now_and_then(here: Path, write: Write, cuesta: Cuesta) -> None:
    echo = measure(here, write, cuesta, PHRASES["ASCII"], 0.001)
    log = [row for row in read_log(here) if row["key"] in PHRASES["ASCII"]]
    assert echo["p50"] == pytest.approx(typical_echo(log), abs=POLLED)


def measure(here: Path, write: Write, cuesta: Cuesta, phrase: str, frame: float) -> dict[str, float]:
    """Type at the program until some transactions have ended, and return the echo since sent."""
    write("text.tape", TAPE.format(phrase=phrase, length=len(phrase)))
    write("plan.toml", PLAN)
    target = f"pty:{shlex.join([sys.executable, str(PROGRAM), str(here / 'log'), str(frame)])}"
    with ended_after(3):
        summary = cuesta("run", "plan.toml", "--target", target, "--json", "-").ends(Exit.INTERRUPTED).json
    assert (summary["errors"]["by_name"], summary["unfollowed"]) == ({}, 0)
    assert summary["echo"]["count"] >= 2 * len(phrase)
    echo: dict[str, float] = summary["echo_from_sent"]
    return echo


def read_log(here: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in (here / "log").read_text().splitlines()]


def typical_echo(log: list[dict[str, Any]]) -> float:
    took: float = statistics.median(row["shown"] - row["read"] for row in log)
    return took / 1e9


def shared(log: list[dict[str, Any]]) -> int:
    """How many keys were shown together with another."""
    frames = [row["shown"] for row in log]
    return sum(frames.count(frame) > 1 for frame in frames)
