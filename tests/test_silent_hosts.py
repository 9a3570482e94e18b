"""Slow hosts and missing users: what makes a run invalid, and what does not.

`test_lying_hosts` has hosts that answer nothing, answer half, or stop in the middle.
"""

import json
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write

Row = dict[str, Any]

BUILTIN = (
    """
users = 6
stagger = "10ms"
settle = "500ms"
line_speed = 0
think = "exp 200ms"
key_rate = 50
limits = ["response.p50 < 10s"]
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


def test_sessions_without_a_free_user_are_counted(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    load = ("--load", "open:50/s:sessions", "--users", "3", "--measure", "3s")
    code, summary = at_the_builtin(write, capsys, *load)
    due = summary["due"]
    assert due["count"] == due["done"] + due["under_way"] + due["waiting"] + due["skipped"]
    # 150 on average; fewer than 90 or more than 210 once in a million runs.
    assert 90 < due["count"] < 210
    assert code == Exit.INVALID
    assert "were never begun" in summary["invalid_because"][0]
    assert summary["response"]["p50"] > 0.5, "the wait for a free user is part of the response"


def test_sessions_that_find_a_free_user_are_valid(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    load = ("--load", "open:2/s:sessions", "--users", "20", "--measure", "5s")
    code, summary = at_the_builtin(write, capsys, *load)
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert summary["due"]["adds_up"]
    assert summary["due"]["waiting"] + summary["due"]["skipped"] == 0
