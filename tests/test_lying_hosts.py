"""One set of tapes at every misleading host, over every kind of line: Cuesta's figures beside the host's own log.

Many hosts run concurrently, because each mostly waits. Instants are compared as medians, with a margin much smaller
than the error that a host tries to cause; and no answer may be faster than the host's fastest one. For every change
each host is met over one line, and each line meets a fifth of the hosts; a WebSocket meets one of each family.
"""

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.hosts import answers_before_echo, echoes_in_escapes, echoes_late, paints_decoys, slow_keys
from tests.hosts.lines import LINES, host
from tests.hosts.log import Log
from tests.processes import in_the_first_pid_namespace

AT_ONCE = 8
"""Hosts that are played at the same time; each run and its logins take some 2 s of CPU time."""
USERS = 3
MARGIN = 0.15
"""Seconds by which the line and a busy machine may move a median."""
GRAIN = 0.99
"""A histogram's value may lie below what was put in."""
BEFORE = 0.02
"""Seconds by which the log's median may be more: it also holds what was done before measuring, when all hosts start."""
AGREES = 0.05
"""The part of it, and the seconds, by which CPU time may differ from the host's own account."""
EDGES = 0.2

BEGIN = r"""
Set KeyRate 10cps
Set Echo {echo}
Wait@30s /\$ $/
"""
COMMANDS = """
Forever
  Transaction "command"
    Type "echo DONE"
    Enter
    Wait+Screen /DONE/
  End
  Think uniform 400ms 800ms
End
"""
ODD = COMMANDS.replace("echo DONE", "echo DONE.")
"""A tape with an odd number of keys, for a host that echoes them at once: the median is one key's."""
TYPING = """
Forever
  Type "hello "
End
"""
ROWS = """
Set KeyRate 30cps
Repeat 15
  Type "hello"
  Enter
  Wait+Prompt
  Think 100ms
End
Type "freeze"
Enter
Wait+Prompt
"""
SILENCES = """
Set KeyRate 30cps
Repeat 12
  Type "ls"
  Enter
  Wait+Silence 300ms
  Think 200ms
End
Type "freeze"
Enter
Forever
  Type "ls"
  Enter
  Wait+Silence 300ms
  Think 200ms
End
"""
WORK = """
Forever
  Transaction "work"
    Type "${way} 0.1"
    Enter
    Wait+Screen /begun/
  End
  Think uniform 400ms 800ms
End
"""
WAYS = "way\ndaemon\nignored\nwaited\n"
PLAN = (
    f"""
name = "liars"
tape = "users.tape"
users = {USERS}
data = "users.csv"
stagger = "100ms"
settle = "SETTLE"
measure = "MEASURE"
limits = ["response.p50 < 10s"]
"""
    + BUSY
    + "lost_users = 1\n"
)

Summary = dict[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Played:
    """Cuesta's summary of a run, and its host's log."""

    code: int
    summary: Summary
    log: Log
    end: int
    """When measuring ended."""

    def until_the_end(self, did: str) -> list[Row]:
        """The host's log until measuring ended."""
        return [row for row in self.log.rows if row["did"] == did and row["at"] < self.end]


def is_about(told: dict[str, float], logged: float) -> bool:
    """Whether Cuesta's median agrees with the log's."""
    return logged * GRAIN - BEFORE <= told["p50"] < logged + MARGIN


def is_answered(played: Played) -> None:
    """Assert that the response agrees with the log and that nothing failed."""
    summary, log = played.summary, played.log
    assert summary["transactions"]["count"] > 0
    assert "timeout" not in summary["errors"]["by_name"]
    assert is_about(summary["response"], log.response)
    assert summary["response"]["min"] >= min(log.responses) * GRAIN


def is_answered_at_once(played: Played) -> None:
    """Assert also that nothing else was taken for the beginning of an answer."""
    is_answered(played)
    assert is_about(played.summary["first_response"], played.log.response)
    assert played.summary["first_response"]["min"] >= min(played.log.responses) * GRAIN


def is_echoed(least: float) -> Callable[[Played], None]:
    """Assert that response and echo agree with the log, and that no echo is faster than the host's fastest one."""

    def judged(played: Played) -> None:
        summary, log = played.summary, played.log
        is_answered_at_once(played)
        assert is_about(summary["echo"], log.echo)
        assert summary["echo"]["min"] >= least * GRAIN
        assert summary["errors"]["count"] == 0

    return judged


def is_announced(played: Played) -> None:
    """Assert that all agrees with the log; keys are shown a while after they were announced, only a Return at once."""
    is_echoed(0.0)(played)
    assert played.summary["echo"]["p50"] >= echoes_in_escapes.SHOWN * GRAIN


def is_echoed_twice(played: Played) -> None:
    """Assert that all agrees with the log; the prompt drawn with the second echo begins the answer."""
    is_answered(played)
    assert is_about(played.summary["echo"], played.log.echo)
    assert played.summary["errors"]["count"] == 0


def is_never_echoed(played: Played) -> None:
    """Assert that the response agrees with the log, and that every key counts as unechoed."""
    is_answered_at_once(played)
    assert not any(played.log.by_connection("echo")[0])
    assert played.summary["echo"]["count"] == 0
    assert set(played.summary["errors"]["by_name"]) == {"unechoed"}


def is_silent(played: Played) -> None:
    """Assert that a host without answers makes the run invalid, and that the reported waits have the right length."""
    said = played.summary["invalid_because"][0]
    assert said.startswith(f"no transaction ended: {USERS} users have waited for up to ")
    is_void(played)
    prompted = min(row["at"] for row in played.until_the_end("prompt"))
    asked = min(row["at"] for row in played.until_the_end("read") if "\r" in row["bytes"] or "\n" in row["bytes"])
    assert (played.end - asked) / 1e9 <= played.summary["waiting"]["oldest"] <= (played.end - prompted) / 1e9


def is_silent_to_typists(played: Played) -> None:
    """Assert that a host without echoes makes the run invalid, even for users who wait for no answer."""
    assert played.code == Exit.INVALID
    assert played.summary["invalid_because"][0].startswith("the host echoed nothing of ")
    typed = sum(len(row["bytes"]) for row in played.until_the_end("read"))
    assert played.summary["waiting"]["keys"] + played.summary["errors"]["by_name"].get("unechoed", 0) >= typed * 0.5


def is_cut_off(played: Played) -> None:
    """Assert that lines closed half-way count no transaction and make the run invalid."""
    assert played.summary["invalid_because"][0].startswith("no transaction ended: ")
    assert "lost before the answer" in played.summary["invalid_because"][0]
    is_void(played)
    lost = sum(played.summary["errors"]["by_name"].get(name, 0) for name in ("closed", "exited", "exited-at-start"))
    assert 0 < lost <= len(played.until_the_end("closed"))
    assert 0 < played.summary["unanswered"] <= len(played.until_the_end("closed"))


def is_void(played: Played) -> None:
    """Assert that a run without any answer is invalid and keeps no limit."""
    assert (played.code, played.summary["transactions"]["count"]) == (Exit.INVALID, 0)
    assert [(limit["value"], limit["ok"]) for limit in played.summary["limits"]] == [(None, False)]


def is_frozen(played: Played) -> None:
    """Assert that users who wait at the end are counted, although the host answered until it froze."""
    assert played.code == Exit.INVALID
    said = [said for said in played.summary["invalid_because"] if "had no answer at the end" in said]
    assert said[0].startswith(f"{USERS} transactions had no answer at the end: the oldest had waited ")
    assert not played.summary["errors"]["count"]
    assert 0 < played.summary["transactions"]["count"] <= len(played.until_the_end("answer")) == USERS * 15
    frozen = min(row["at"] for row in played.until_the_end("frozen"))
    assert (played.end - frozen) / 1e9 <= played.summary["waiting"]["oldest"] < (played.end - frozen) / 1e9 + MARGIN


def is_silent_midway(played: Played) -> None:
    """Assert that the silence of a frozen host does not count as answers, though the tape waits for silence."""
    ended, silent = played.summary["transactions"]["count"], played.summary["silent"]
    assert played.code == Exit.INVALID
    assert played.summary["invalid_because"][0].startswith(f"the host sent nothing: {silent} of {ended} transactions")
    assert 0 < ended - silent <= len(played.until_the_end("answer")) == USERS * 12
    assert [limit["ok"] for limit in played.summary["limits"]] == [False]


def is_charged(played: Played) -> None:
    """Assert that the host's CPU time agrees with the use that its processes logged, detached ones included."""
    is_answered(played)
    if not in_the_first_pid_namespace():
        assert played.summary["host"]["meters"]["accounting"] != "exit_records"
        return
    meter_report = played.summary["host"]["sheet"]
    burned = played.log.cpu(meter_report["at"] - int(meter_report["seconds"] * 1e9), meter_report["at"])
    assert burned > 0
    metered = meter_report["own"]["seconds"]["value"]
    assert burned * (1 - AGREES) - EDGES <= metered <= burned * (1 + AGREES) + EDGES, (metered, burned)
    assert played.summary["host"]["meters"]["accounting"] == "exit_records"


@dataclass(frozen=True)
class Case:
    """A host, the tape typed at it, how its keys are timed, and the assertion on the result."""

    host: str
    judged: Callable[[Played], None]
    echo: str = "timed"
    typed: str = COMMANDS
    metered: bool = False
    settle: str = "4s"
    measure: str = "9s"


CASES = {
    "freezes": Case("freezes", is_silent, echo="off", typed=ROWS),
    "freezes on typists": Case("freezes", is_silent_to_typists, typed=TYPING),
    "freezes midway": Case("freezes_midway", is_frozen, echo="off", typed=ROWS, settle="0s", measure="15s"),
    "freezes midway, by silence": Case(
        "freezes_midway", is_silent_midway, echo="off", typed=SILENCES, settle="0s", measure="15s"
    ),
    "closes halfway": Case("closes_halfway", is_cut_off),
    "echoes late": Case("echoes_late", is_echoed(echoes_late.LAG)),
    "echoes late, not timed": Case("echoes_late", is_answered_at_once, echo="off"),
    "echoes in escapes": Case("echoes_in_escapes", is_announced),
    "never echoes": Case("never_echoes", is_never_echoed),
    "echoes twice": Case("echoes_twice", is_echoed_twice),
    "answers before echo": Case("answers_before_echo", is_echoed(answers_before_echo.ECHO), typed=ODD),
    "answers before echo, on the screen": Case(
        "answers_before_echo", is_echoed(answers_before_echo.ECHO), echo="screen"
    ),
    "paints decoys": Case("paints_decoys", is_echoed(paints_decoys.ECHO), echo="screen"),
    "slow keys": Case("slow_keys", is_echoed(slow_keys.SECONDS), echo="screen"),
    "forks away": Case("forks_away", is_charged, typed=WORK, metered=True),
}


def play(case: Case, line: str, folder: Path) -> Played:
    """Run users at a host over a line."""
    folder.mkdir(parents=True)
    (folder / "users.tape").write_text(BEGIN.format(echo=case.echo) + case.typed)
    (folder / "users.csv").write_text(WAYS)
    (folder / "plan.toml").write_text(PLAN.replace("SETTLE", case.settle).replace("MEASURE", case.measure))
    command = [sys.executable, "-m", "cuesta", "run", "plan.toml", "--quiet", "--json", "-", "--out", "out"]
    with LINES[line](host(case.host, folder / "host.log"), folder, case.metered) as reached:
        meters = reached.meters if case.metered else "none"
        command += ["--target", reached.target, "--meters", meters]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    assert run.returncode in (Exit.GOOD, Exit.INVALID), run.stderr
    timeline = json.loads((folder / "out/agent-0/timeline.json").read_text())
    end = timeline["start_at"] + timeline["steps"][0]["end"]
    return Played(run.returncode, json.loads(run.stdout), Log.read(folder / "host.log"), end)


Pair = tuple[str, str]
PAIRS: list[Pair] = [*zip(itertools.cycle(LINES), CASES), ("ws", "freezes"), ("ws", "paints decoys")]
"""Each host over one line, and those families over a WebSocket that it does not meet so: silence, and screens."""
OTHERS = [pair for pair in itertools.product(LINES, CASES) if pair not in PAIRS]


def test_no_host_misleads_the_measurement(tmp_path: Path) -> None:
    assert misled(PAIRS, tmp_path) == {}


@pytest.mark.nightly
@pytest.mark.parametrize("line", LINES)
def test_no_host_misleads_the_measurement_over_any_line(tmp_path: Path, line: str) -> None:
    assert misled([pair for pair in OTHERS if pair[0] == line], tmp_path) == {}


def misled(pairs: list[Pair], folder: Path) -> dict[Pair, str]:
    """Play some hosts, and return what is wrong with each one's measurement."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {
            pair: wrong for pair, wrong in zip(pairs, pool.map(partial(judge, folder), pairs), strict=True) if wrong
        }


def judge(folder: Path, pair: Pair) -> str:
    """What is wrong with the measurement of a host over a line; empty if nothing is."""
    line, name = pair
    try:
        CASES[name].judged(play(CASES[name], line, folder / line / name.replace(" ", "-")))
    except AssertionError as wrong:
        return str(wrong) or repr(wrong)
    return ""
