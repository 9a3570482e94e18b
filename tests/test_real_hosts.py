"""Real shells, behind telnet daemons that `scripts/setup --tests` installs and on terminals of their own."""

from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.at_a_shell import KEYS, PLAN, TAPE, USERS
from tests.conftest import Cuesta, Write
from tests.daemons import Command, busybox, inetd, tcpsvd, telnetd
from tests.enough import counted, ended_after, ended_when

SHELL = "pty:env PS1='$ ' bash --norc --noprofile -i"


RUN = ("run", "plan.toml", "--out", "out", "--quiet", "--json", "-", "--target")


@pytest.mark.parametrize("command", [inetd, tcpsvd, busybox])
def test_users_type_at_a_real_shell(command: Command, here: Path, write: Write, cuesta: Cuesta) -> None:
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    with telnetd(command, here) as port, ended_after(20):
        summary = cuesta(*RUN, f"telnet://127.0.0.1:{port}").ends(Exit.INTERRUPTED).json
    assert summary["invalid_because"] == []
    assert summary["errors"]["count"] == 0, summary["errors"]
    # Each user's first sum may have been typed before measuring began.
    assert summary["echo"]["count"] >= KEYS * (summary["transactions"]["count"] - USERS)
    # A shell echoes at once, and answers after the echo.
    assert 0 < summary["echo"]["p50"] < summary["response"]["p99"]
    assert summary["fairness"]["jain"] > 0


def test_a_host_that_hangs_up_is_counted_and_the_run_goes_on(here: Path, write: Write, cuesta: Cuesta) -> None:
    # Each session ends after its first sum.
    write("shell.tape", TAPE.replace("  Think uniform 100ms 300ms\n", '  Type "exit"\n  Enter\n  Think 300ms\n'))
    write("plan.toml", PLAN.replace("[validity]", "[validity]\nlost_users = 1"))
    with telnetd(busybox, here) as port, ended_when(lambda out: counted(out, "closed") > 2 * USERS):
        summary = cuesta(*RUN, f"telnet://127.0.0.1:{port}").ends(Exit.INTERRUPTED).json
    # A failure of the host is data: each session ends, and each user calls again.
    assert summary["invalid_because"] == []
    assert set(summary["errors"]["by_name"]) == {"closed"}


SLOW = """
Set KeyRate {rate}
Wait /\\$ $/
Forever
  Transaction "command"
    Type "sleep 1; echo DONE"
    Enter
    Wait+Screen /DONE/
  End
  Think uniform 200ms 400ms
End
"""


@pytest.mark.parametrize("rate", ["10cps", "0"])
def test_a_shell_is_timed_by_its_answer(rate: str, write: Write, cuesta: Cuesta) -> None:
    write("shell.tape", SLOW.format(rate=rate))
    write("plan.toml", PLAN)
    with ended_after(6):
        summary = cuesta(*RUN, SHELL).json
    assert summary["errors"]["count"] == 0
    # The typed row is shown first and contains the same word.
    for figure in ("response", "first_response"):
        assert summary[figure]["count"] >= 6
        assert 1.0 <= summary[figure]["min"] < 1.2


EXPECTING = """
Set KeyRate 0
Wait /\\$ $/
Forever
  Transaction "nothing"
    Type "true"
    Enter
    Wait+Prompt
  End
  Expect+Screen /{pattern}/
  Think 200ms
End
"""


@pytest.mark.parametrize(
    ("pattern", "is_met"),
    [(r"\$ $", True), (r"\$$", True), (r"(?m)^\$ $", True), (r"true\n\$ $", True), (r"\$  $", False)],
)
def test_blanks_at_the_end_of_a_prompt_can_be_expected(
    pattern: str, is_met: bool, write: Write, cuesta: Cuesta
) -> None:
    write("shell.tape", EXPECTING.format(pattern=pattern))
    write("plan.toml", PLAN)
    with ended_after(3 * USERS):
        summary = cuesta(*RUN, SHELL).json
    assert set(summary["errors"]["by_name"]) == (set() if is_met else {"expect"})
