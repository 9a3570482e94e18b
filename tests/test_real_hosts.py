"""The same tape against real telnet daemons, each running a real shell; `scripts/setup --tests` installs them."""

import json
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.at_a_shell import PLAN, TAPE
from tests.conftest import Write
from tests.daemons import Command, busybox, inetd, tcpsvd, telnetd


@pytest.mark.parametrize("command", [inetd, tcpsvd, busybox])
def test_users_type_at_a_real_shell(
    command: Command, here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    with telnetd(command, here) as port:
        target = f"telnet://127.0.0.1:{port}"
        code = main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet", "--json", "-"])
    summary = json.loads(capsys.readouterr().out)
    assert (code, summary["invalid_because"]) == (Exit.GOOD, [])
    assert summary["errors"]["count"] == 0, summary["errors"]
    assert summary["transactions"]["count"] > 20
    assert summary["echo"]["count"] > 14 * 20
    # A shell echoes at once, and answers after it.
    assert 0 < summary["echo"]["p50"] < summary["response"]["p99"]
    assert summary["fairness"]["jain"] > 0


def test_a_host_that_hangs_up_is_counted_and_the_run_goes_on(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    # Each session ends after its first sum.
    write("shell.tape", TAPE.replace("  Think uniform 100ms 300ms\n", '  Type "exit"\n  Enter\n  Think 300ms\n'))
    write("plan.toml", PLAN.replace("[validity]", "[validity]\nlost_users = 1"))
    with telnetd(busybox, here) as port:
        target = f"telnet://127.0.0.1:{port}"
        code = main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet", "--json", "-"])
    summary = json.loads(capsys.readouterr().out)
    # A failure of the host is data: each session ends, and each user calls again.
    assert code == Exit.GOOD, summary["invalid_because"]
    assert set(summary["errors"]["by_name"]) == {"closed"}
    assert summary["errors"]["by_name"]["closed"] >= 5
