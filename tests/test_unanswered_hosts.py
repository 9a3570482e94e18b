"""Hosts that leave some of what was asked unanswered: the figures are of what was asked."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.hosts.log import Log

Row = dict[str, Any]
CHECKOUT = Path(__file__).parents[1]
TAPE = """
Set WaitTimeout 1s
Set TypingSpeed 10ms
Wait+Prompt
Forever
  Transaction "ask"
    Type "ls"
    Enter
    Wait+Prompt
  End
  Think 50ms
End
"""
LIMITS = ("response.p95 < 500ms", "response.p50 < 500ms", "response.p95 < 60s", "response.max < 60s")


def play(how: str, here: Path, write: Write, cuesta: Cuesta, tape: str = TAPE) -> tuple[int, Row]:
    write("ask.tape", tape)
    environment = f"env PYTHONPATH={CHECKOUT} HOW={how}"
    program = f"{environment} {sys.executable} -m tests.hosts.leaves_unanswered --log {here / 'log'}"
    plan = f'tape = "ask.tape"\ntarget = "pty:{program}"\nusers = 6\nstagger = "0s"\nsettle = "2s"\nmeasure = "6s"\n'
    write("plan.toml", f'{plan}meters = "none"\nlimits = {json.dumps(LIMITS)}\n{BUSY}')
    ended = cuesta("run", "plan.toml", "--out", "out", "--quiet", "--json", "-")
    return ended.code, ended.json


def judged(summary: Row) -> dict[str, str]:
    words = {(True, None): "kept", (False, None): "crossed"}
    return {each["limit"]: words.get((each["ok"], each["undecided"]), "not decided") for each in summary["limits"]}


def test_what_is_given_up_counts_as_long_as_it_was_waited_for(here: Path, write: Write, cuesta: Cuesta) -> None:
    code, summary = play("slowly", here, write, cuesta)
    assert (code, summary["invalid_because"]) == (Exit.LIMIT, [])
    response = summary["response"]
    assert response["censored"] >= summary["unanswered"] == summary["errors"]["by_name"]["timeout"] > 0
    assert {"p95", "p99", "max"} <= set(response["at_least"])
    assert response["p95"] >= 1.0 > response["p50"]
    assert judged(summary) == dict(zip(LIMITS, ("crossed", "kept", "not decided", "not decided"), strict=True))
    # One row in ten of each line by the host's log; a part of the last ten lies outside the measurement.
    log = Log.read(here / "log")
    asked, unanswered = (sum(map(len, log.by_connection(*did))) for did in (("answer", "unanswered"), ("unanswered",)))
    assert summary["unanswered"] / (summary["transactions"]["count"] + summary["unanswered"]) == pytest.approx(
        unanswered / asked, rel=0.5
    )


def test_an_answer_that_is_replaced_by_the_end_of_the_line_never_comes(
    here: Path, write: Write, cuesta: Cuesta
) -> None:
    """However early: the host answers quickly or not at all, and no limit on p95 is kept."""
    code, summary = play("closes", here, write, cuesta)
    assert code in (Exit.LIMIT, Exit.INVALID), "users may be without a line when measuring begins and ends"
    assert summary["response"]["censored"] >= summary["unanswered"] > 0
    assert summary["response"]["longest"] < 0.5
    assert judged(summary) == dict(zip(LIMITS, ("crossed", "kept", "crossed", "crossed"), strict=True))


def test_a_user_who_never_gets_a_prompt_makes_the_run_invalid(here: Path, write: Write, cuesta: Cuesta) -> None:
    code, summary = play("mute", here, write, cuesta, TAPE.replace("1s", "1m", 1))
    assert (code, summary["never_at_work"]) == (Exit.INVALID, 1)
    assert summary["invalid_because"][0].startswith("1 of 6 users never got to work: no prompt or no line")
