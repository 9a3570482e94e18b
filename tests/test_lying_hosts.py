"""The same tapes at every host that misleads, over every kind of line: Cuesta's word against the host's own log.

All hosts of a line are typed at together: each waits most of the time. Instants are compared as medians, with a margin
much smaller than what a host misleads by.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.hosts import answers_before_echo, echoes_in_escapes, echoes_late, paints_decoys
from tests.hosts.lines import LINES, host
from tests.hosts.log import Log

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(300)]

MARGIN = 0.15
"""Seconds by which the line and a busy machine may move a median."""
GRAIN = 0.99
"""A histogram's value may lie below what was put in."""

TAPE = r"""
Set KeyRate 10cps
Set Echo {echo}
Set WaitTimeout 5s
Wait@30s /\$ $/
Forever
  Transaction "command"
    Type "echo DONE"
    Enter
    Wait+Screen /DONE/
  End
  Think uniform 400ms 800ms
End
"""
PLAN = (
    """
name = "liars"
tape = "command.tape"
users = 3
stagger = "100ms"
settle = "5s"
measure = "12s"
meters = "none"
"""
    + BUSY
)

Summary = dict[str, Any]


def is_answered(summary: Summary, log: Log) -> None:
    """Hold the response against the log's; nothing failed."""
    assert summary["transactions"]["count"] >= 9
    assert "timeout" not in summary["errors"]["by_name"]
    assert log.response * GRAIN <= summary["response"]["p50"] < log.response + MARGIN


def is_echoed(least: float) -> Callable[[Summary, Log], None]:
    """Hold response and echo against the log's; no echo was sooner than the host ever is."""

    def judged(summary: Summary, log: Log) -> None:
        is_answered(summary, log)
        assert log.echo * GRAIN <= summary["echo"]["p50"] < log.echo + MARGIN
        assert summary["echo"]["min"] >= least * GRAIN
        assert summary["errors"]["count"] == 0

    return judged


def is_announced(summary: Summary, log: Log) -> None:
    """Hold all against the log's; most keys are shown a while after they were announced, only a Return at once."""
    is_echoed(0.0)(summary, log)
    assert summary["echo"]["p50"] >= echoes_in_escapes.SHOWN * GRAIN


def is_never_echoed(summary: Summary, log: Log) -> None:
    """Hold the response against the log's; no key has an echo, and each is said to have none."""
    is_answered(summary, log)
    assert not any(log.of("echo")[0])
    assert summary["echo"]["count"] == 0
    assert summary["errors"]["by_name"]["unechoed"] > 0


def is_silent(summary: Summary, log: Log) -> None:
    """See that a host which answered nothing voids the run, and is said to have."""
    assert not any(log.of("answer")[0])
    assert (summary["valid"], summary["transactions"]["count"]) == (False, 0)
    assert "answered nothing" in summary["invalid_because"][0]


def is_cut_off(summary: Summary, log: Log) -> None:
    """See that lines which the host closed half-way count no transaction, and void the run."""
    closed = sum(len(rows) for rows in log.of("closed"))
    lost = sum(summary["errors"]["by_name"].get(name, 0) for name in ("closed", "exited", "exited-at-start"))
    assert closed > 0
    assert 0 < lost <= closed
    assert (summary["valid"], summary["transactions"]["count"]) == (False, 0)


@dataclass(frozen=True)
class Case:
    """A host, how its keys are timed, and what must be said of it."""

    name: str
    judged: Callable[[Summary, Log], None]
    echo: str = "timed"


CASES = [
    Case("freezes", is_silent),
    Case("closes_halfway", is_cut_off),
    Case("echoes_late", is_echoed(echoes_late.LAG)),
    Case("echoes_in_escapes", is_announced),
    Case("never_echoes", is_never_echoed),
    Case("echoes_twice", is_echoed(0.0)),
    Case("answers_before_echo", is_echoed(answers_before_echo.ECHO), echo="screen"),
    Case("paints_decoys", is_echoed(paints_decoys.ECHO), echo="screen"),
]


@pytest.mark.parametrize("line", LINES)
def test_no_host_deceives(line: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        runs = [start(case, line, tmp_path / case.name, stack) for case in CASES]
        said = [run.communicate(timeout=200) for run in runs]
    wrong = list[str]()
    for case, run, (out, err) in zip(CASES, runs, said, strict=True):
        assert run.returncode in (Exit.GOOD, Exit.INVALID), (case.name, err)
        try:
            case.judged(json.loads(out), Log.read(tmp_path / case.name / "host.log"))
        except AssertionError as error:
            wrong.append(f"{case.name}: {error}")
    assert not wrong, "\n".join(wrong)


def start(case: Case, line: str, folder: Path, stack: ExitStack) -> "subprocess.Popen[str]":
    """Begin a run at a host over a line; whatever happens, it ends with the stack."""
    folder.mkdir()
    (folder / "command.tape").write_text(TAPE.format(echo=case.echo))
    (folder / "plan.toml").write_text(PLAN)
    target = stack.enter_context(LINES[line](host(case.name, folder / "host.log"), folder))
    command = [sys.executable, "-m", "cuesta", "run", "plan.toml", "--quiet", "--json", "-", "--target", target]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stack.callback(run.wait)
    stack.callback(run.kill)
    return run
