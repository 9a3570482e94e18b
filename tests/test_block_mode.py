"""3270s: at hosts that mislead, beside their own logs; at Hercules' console; and beside s3270 at one host."""

import itertools
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.daemons import needed
from tests.enough import LIMIT, counted, ended_after, ended_when
from tests.hercules import hercules
from tests.hosts import keeps_old_text, unlocks_first, unlocks_last
from tests.hosts.lines import host, over_tcp
from tests.hosts.log import Log
from tests.hosts.screens import FIELD, UNLOCK

USERS = 3
ORDERS = 15
"""Of s3270."""
MARGIN = 0.15
"""Seconds by which Cuesta's median may differ from the host's; half of what each host tries to cause."""

TAPE = """
Set KeyRate 30cps
Set WaitTimeout {timeout}
Wait+Unlock
{begin}
Forever
  Transaction "order"
    Type "order 42"
    Enter
    {wait}
  End
  Wait+Unlock
  Think 100ms
End
"""
PLAN = (
    f"""
tape = "users.tape"
users = {USERS}
settle = "1s"
measure = "{LIMIT}"
limits = ["response.p50 < 10s"]
"""
    + BUSY
)

Summary = dict[str, Any]


Play = Callable[..., tuple[int, Summary]]


@pytest.fixture
def play(write: Write, cuesta: Cuesta) -> Play:
    """Plays an order that ends with `wait` at a target; `more` are flags."""

    def played(wait: str, target: str, *more: str, begin: str = "", timeout: str = LIMIT) -> tuple[int, Summary]:
        write("users.tape", TAPE.format(wait=wait, begin=begin, timeout=timeout))
        write("plan.toml", PLAN)
        ended = cuesta("run", "plan.toml", "--target", target, *FLAGS, *more)
        return ended.code, ended.json

    return played


FLAGS = ("--meters", "none", "--quiet", "--json", "-", "--out", "out")


def at(name: str, wait: str, play: Play, here: Path) -> tuple[int, Summary, Log]:
    log = here / "log.jsonl"
    locked = ended_when(lambda out: counted(out, "keyboard-locked") >= 2 * USERS)
    enough, timeout = (locked, "1s") if name == "never_unlocks" else (ended_after(6), LIMIT)
    with over_tcp(host(name, log), here) as reached, enough:
        code, summary = play(wait, reached.target.replace("tcp:", "tn3270:"), timeout=timeout)
    return code, summary, Log.read(log)


def took(log: Log, did: str) -> list[float]:
    """Seconds from each record that arrived to what the host did."""
    responses = []
    for rows in log.by_connection("asked", did):
        pairs = itertools.pairwise(rows)
        responses += [(b["since"] - a["at"]) / 1e9 for a, b in pairs if (a["did"], b["did"]) == ("asked", did)]
    return responses


@pytest.mark.parametrize(
    ("name", "wait", "did", "least"),
    [
        ("unlocks_first", "Wait+Unlock", "unlock", 0),
        ("unlocks_first", "Wait+Screen /DONE/", "text", unlocks_first.LATER),
        ("unlocks_last", "Wait+Unlock", "unlock", unlocks_last.LATER),
        ("unlocks_last", "Wait+Screen /DONE/", "text", 0),
        ("keeps_old_text", "Wait+Screen /DONE/", "text", keeps_old_text.LATER),
    ],
)
def test_a_response_is_what_the_host_wrote_after_the_key(
    name: str, wait: str, did: str, least: float, here: Path, play: Play
) -> None:
    code, summary, log = at(name, wait, play, here)
    assert (code, summary["invalid_because"]) == (Exit.INTERRUPTED, [])
    by_host = took(log, did)
    assert least * 0.99 <= summary["response"]["min"]
    assert min(by_host) * 0.99 <= summary["response"]["min"]
    assert abs(statistics.median(by_host) - summary["response"]["p50"]) < MARGIN
    if (name, wait) != ("unlocks_first", "Wait+Unlock"):
        assert summary["errors"]["count"] == 0, summary["errors"]
        sent = [row["bytes"] for row in log.rows if row["did"] == "asked"]
        # AID, cursor, and the field with what was typed.
        assert all(re.fullmatch(r"\x7d..\x11..(?s:.*)", row, re.DOTALL) for row in sent)
        assert {row[6:].encode("latin-1").decode("cp037") for row in sent} == {"order 42"}


def test_a_keyboard_that_stays_locked_makes_the_run_invalid(here: Path, play: Play) -> None:
    _, summary, log = at("never_unlocks", "Wait+Screen /DONE/", play, here)
    assert any("keyboard-locked" in text for text in summary["invalid_because"]), summary["invalid_because"]
    assert [each["ok"] for each in summary["limits"]] == [False]
    # Each user's first order was sent before measuring, and no other one.
    assert [len(rows) for rows in log.by_connection("asked") if rows] == [1] * USERS


DONE = UNLOCK + b"\x11\x40\x40\x1d\xf0" + "DONE".encode("cp037") + FIELD
ANSWERS = {
    0x000: "00000000 00000420",
    0x048: "00000500",  # the address of the channel program
    0x078: "00000000 00000400",  # where an interrupt of a device goes on
    0x400: "91800044 47E00420",  # no attention: go on waiting
    0x408: "4810003A 9C001000 4720040C 47F00420",  # start the channel program at the device that interrupted
    0x420: "82000480",
    0x480: "FE020000 00000420",  # wait for an interrupt
    0x500: f"06000700 60000100 05000600 200000{len(DONE):02x}",  # read what was modified, erase and write
    0x600: DONE.hex(),
}
"""A program of System/370: it answers each key that calls for the host with a screen."""


def test_users_at_a_program_on_hercules(here: Path, play: Play) -> None:
    devices = [f"{0xC0 + user:04X} 3270" for user in range(USERS)]
    with hercules(here, devices, ANSWERS) as port, ended_after(20):
        # At first its console shows a logo, which has no field to type into.
        code, summary = play("Wait+Screen /DONE/", f"tn3270://127.0.0.1:{port}", begin="Enter\nWait+Unlock")
    assert (code, summary["invalid_because"]) == (Exit.INTERRUPTED, [])
    assert summary["errors"]["count"] == 0, summary["errors"]


def test_a_logical_unit_is_taken_by_its_name(here: Path, write: Write, play: Play) -> None:
    # Hercules gives a device with a name to none but those who ask for that name.
    devices = [f"{0xC0 + user:04X} 3270 LAB{user}" for user in range(USERS)]
    write("users.csv", "lu\n" + "".join(f"LAB{user}\n" for user in range(USERS)))
    with hercules(here, devices, ANSWERS) as port, ended_after(10):
        target, begin = f"tn3270://127.0.0.1:{port}", "Enter\nWait+Unlock"
        code, summary = play("Wait+Screen /DONE/", target, "--data", "users.csv", begin=begin)
    assert (code, summary["invalid_because"], summary["errors"]["count"]) == (Exit.INTERRUPTED, [], 0)


def test_s3270_and_cuesta_time_one_host_alike(play: Play) -> None:
    delay = 0.25
    command = [sys.executable, "-m", "cuesta", "host", "--service", "form 300", "--delay", f"{delay}s", "--attached"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as built_in:
        assert built_in.stdout
        target = built_in.stdout.readline().strip()
        # s3270 asks while Cuesta's users do.
        script = [f"Connect({target.removeprefix('tn3270://')})", "Wait(InputField)"]
        script += [*(["String(order)", "Enter()"] * ORDERS), "Quit()"]
        command = [needed("s3270"), "-model", "3278-2-E"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stopwatch:
            assert stopwatch.stdin
            stopwatch.stdin.write("\n".join(script) + "\n")
            stopwatch.stdin.close()
            with ended_after(ORDERS):
                code, summary = play("Wait+Unlock", target)
            assert stopwatch.stdout
            rows = stopwatch.stdout.read().splitlines()
    assert (code, summary["invalid_because"]) == (Exit.INTERRUPTED, [])
    # Each status line ends with the seconds that the host took. The first two commands connect; each order takes two.
    assert set(rows[1::2]) == {"ok"}, rows
    timed = [float(row.split()[-1]) for row in rows[0::2]][3::2]
    assert len(timed) == ORDERS
    # A busy machine delays many answers, but not each one.
    assert delay * 0.99 <= min(timed) < delay + 0.02
    assert delay * 0.99 <= summary["response"]["min"] < delay + 0.02
