"""Slow hosts and missing users: what makes a run invalid, and what does not.

`test_lying_hosts` has hosts that answer nothing, answer half, or stop in the middle.
"""

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Ended, Write

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


def at_the_builtin(write: Write, cuesta: Cuesta, *more: str) -> Ended:
    write("plan.toml", BUILTIN)
    return cuesta("run", "plan.toml", "--out", "out", "--quiet", "--json", "-", *more)


def test_a_slow_host_that_answers_is_valid(write: Write, cuesta: Cuesta) -> None:
    summary = at_the_builtin(write, cuesta, "--host", "delay=2500ms", "--measure", "6s").ends().json
    assert summary["invalid_because"] == []
    assert summary["response"]["min"] >= 2.49


def test_sessions_without_a_free_user_are_counted(write: Write, cuesta: Cuesta) -> None:
    load = ("--load", "open:50/s:sessions", "--users", "3", "--measure", "3s")
    summary = at_the_builtin(write, cuesta, *load).ends(Exit.INVALID).json
    due = summary["due"]
    assert due["adds_up"]
    # 150 on average; fewer than 90 or more than 210 once in a million runs.
    assert 90 < due["count"] < 210
    assert "were never begun" in summary["invalid_because"][0]
    assert summary["response"]["p50"] > 0.5, "the wait for a free user is part of the response"


def test_sessions_that_find_a_free_user_are_valid(write: Write, cuesta: Cuesta) -> None:
    load = ("--load", "open:2/s:sessions", "--users", "20", "--measure", "5s")
    summary = at_the_builtin(write, cuesta, *load).ends().json
    assert summary["invalid_because"] == []
    due = summary["due"]
    assert due["adds_up"]
    assert due["count"] == due["done"] + due["under_way"]
