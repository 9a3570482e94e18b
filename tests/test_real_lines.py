"""Tapes over the CLI against programs and devices of this machine.

`scripts/setup --tests` installs what is needed.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.at_a_shell import KEYS, PLAN, TAPE
from tests.conftest import Write
from tests.daemons import busybox, telnetd
from tests.enough import counted, ended_after, ended_when, measured
from tests.processes import descendants, program

SHELL = "env PS1='$ ' bash --norc --noprofile -i"

FILE_TAPE = r"""
Set KeyRate 30cps
Forever
  Transaction "arithmetic"
    Type "echo $((6*7))"
    Enter
    Wait+Screen /^42$/
  End
  Think uniform 100ms 300ms
End
"""

CAT_TAPE = r"""
Set KeyRate 30cps
Forever
  Type "hello"
  Enter
  Wait+Screen /^hello/
  Think uniform 500ms 1500ms
End
"""


def run(capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, dict[str, Any]]:
    out = f"out-{len(list(Path().glob('out-*')))}"
    code = main(["run", "plan.toml", *flags, "--out", out, "--quiet", "--json", "-"])
    return code, json.loads(capsys.readouterr().out)


def run_well(capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, Any]:
    """The summary of a run in which nothing fails."""
    code, summary = run(capsys, *flags)
    assert (code, summary["invalid_because"], summary["errors"]["by_name"]) == (Exit.INTERRUPTED, [], {})
    return summary


def test_users_type_at_programs_on_terminals_of_their_own(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    with ended_after(20):
        summary = run_well(capsys, "--target", f"pty:{SHELL}", "--users", "8")
    # Each user's first sum may have been typed before measuring began.
    assert summary["echo"]["count"] >= KEYS * (summary["transactions"]["count"] - 8)
    assert 0 < summary["echo"]["p50"] < summary["response"]["p99"]
    # Most lines were opened before measuring began; a terminal neither negotiates nor logs in.
    assert (summary["connect"]["count"], summary["negotiation"]["count"], summary["login"]["count"]) == (8, 0, 0)
    assert descendants(os.getpid()) == []


def test_the_same_tape_goes_over_a_terminal_and_over_pipes(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("shell.tape", FILE_TAPE)
    write("plan.toml", PLAN)
    for target in (f"pty:{SHELL}", "pipe:bash --norc --noprofile"):
        with ended_after(20):
            summary = run_well(capsys, "--target", target, "--users", "4")
        # A terminal shows typed keys; a pipe carries only the answer.
        shown = summary["characters"]["out_per_s"] / summary["transactions"]["per_s"]
        assert (shown < 5) == target.startswith("pipe:"), (target, shown)


def test_a_user_types_at_a_serial_device(here: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("shell.tape", TAPE.replace("Wait /\\$ $/", "Enter\nWait /\\$ $/"))
    write("plan.toml", PLAN)
    ends = [f"pty,raw,echo=0,link={here / name}" for name in ("near", "far")]
    with program(["socat", "-d", "-d", *ends], says="starting data transfer loop"):
        write("shell", "#!/bin/sh\nexport PS1='$ '\nexec bash --norc --noprofile -i\n").chmod(0o755)
        shell = f"EXEC:{here / 'shell'},pty,setsid,ctty,stderr"
        with program(["socat", f"FILE:{here / 'far'},raw,echo=0", shell]), ended_after(5):
            summary = run_well(capsys, "--target", f"serial:{here / 'near'}?baud=115200", "--users", "1")
    assert summary["echo"]["count"] >= KEYS * (summary["transactions"]["count"] - 1)


def test_an_ended_program_and_a_missing_one_have_different_error_names(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    # Each session ends after its first sum.
    write("shell.tape", TAPE.replace("  Think uniform 100ms 300ms\n", '  Type "exit"\n  Enter\n  Think 300ms\n'))
    write("plan.toml", PLAN.replace("[validity]", "[validity]\nlost_users = 1"))
    with ended_when(lambda out: counted(out, "closed") >= 4):
        code, summary = run(capsys, "--target", f"pty:{SHELL}", "--users", "4")
    assert (code, summary["invalid_because"]) == (Exit.INTERRUPTED, [])
    assert set(summary["errors"]["by_name"]) == {"closed"}
    # Only the shell can tell, so nothing is refused before the run.
    with ended_when(lambda out: counted(out, "no-program") >= 4):
        _, summary = run(capsys, "--target", "pty:cd / && exec cuesta-no-such-program", "--users", "4")
    assert set(summary["errors"]["by_name"]) == {"no-program"}


@pytest.mark.nightly
def test_a_host_that_dies_at_its_limit_is_counted_and_the_rest_goes_on(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("cat.tape", CAT_TAPE)
    # The shell is small, so that the daemon's limit is that of descriptors.
    with telnetd(busybox, here, shell="#!/bin/sh\nexec cat\n") as port:
        write(
            "plan.toml",
            f"""
            name = "limit"
            stagger = "10ms"
            settle = "2s"
            measure = "100s"
            [[group]]
            name = "many"
            tape = "cat.tape"
            target = "telnet://127.0.0.1:{port}"
            users = 560
            [[group]]
            name = "few"
            tape = "cat.tape"
            target = "pty:cat"
            users = 3
            stagger = "1ms"
            [validity]
            lateness_p99 = "10s"
            driver_cpu = 1
            run_wait = 1
            steal = 1
            settled = false
            lost_users = 1
            """,
        )
        with ended_when(lambda out: counted(out, "refused") >= 560 and measured(out) >= 6):
            _, summary = run(capsys)
    # The host aborts with all its lines, and nothing listens any more.
    names = set(summary["errors"]["by_name"])
    assert "refused" in names, summary["errors"]
    assert names <= {"refused", "reset", "closed"}, summary["errors"]
    assert summary["lost_users"] >= 500
    few = next(row for row in summary["classes"] if row["group"] == "few")
    assert few["response"]["count"] > 0
