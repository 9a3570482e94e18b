"""The same tape against real telnet daemons, each running a real shell; `scripts/setup --tests` installs them."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write

TAPE = r"""
Set KeyRate 30cps
Set Echo timed
Set WaitTimeout 10s
Wait /\$ $/
Forever
  Transaction "arithmetic"
    Type "echo $((6*7))"
    Enter
    Wait+Prompt
  End
  Expect /(?m)^42$/
  Think uniform 100ms 300ms
End
"""

PLAN = (
    """
name = "real"
tape = "shell.tape"
users = 5
stagger = "50ms"
settle = "1s"
measure = "4s"
"""
    + BUSY
)

Command = Callable[[Path, int, Path], list[str]]


def inetd(shell: Path, port: int, folder: Path) -> list[str]:
    service = f"127.0.0.1:{port} stream tcp nowait root /usr/sbin/telnetd telnetd -h --exec-login={shell}\n"
    (folder / "inetd.conf").write_text(service)
    return ["inetutils-inetd", "-d", f"-p{folder}/inetd.pid", "-R", "1000", str(folder / "inetd.conf")]


def tcpsvd(shell: Path, port: int, folder: Path) -> list[str]:
    return ["tcpsvd", "-E", "-c", "100", "127.0.0.1", str(port), "/usr/sbin/telnetd", "-h", "-E", str(shell)]


def busybox(shell: Path, port: int, folder: Path) -> list[str]:
    return ["busybox", "telnetd", "-F", "-p", str(port), "-b", "127.0.0.1", "-l", str(shell)]


def free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def started(command: Command, folder: Path) -> Iterator[int]:
    """Start a daemon on a free port of loopback; give the port once it listens; end it and what it started."""
    shell = folder / "shell"
    shell.write_text("#!/bin/sh\nexport PS1='$ '\nexec /bin/bash --norc --noprofile -i\n")
    shell.chmod(0o755)
    port = free_port()
    arguments = command(shell, port, folder)
    assert shutil.which(arguments[0], path="/usr/sbin:/usr/bin:/bin:/sbin"), (
        f"no {arguments[0]}: ./scripts/setup --tests"
    )
    with (folder / "daemon.log").open("wb") as log:
        daemon = subprocess.Popen(arguments, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_until_it_listens(daemon, port, folder)
        yield port
    finally:
        for pid in [*children_of(daemon.pid), daemon.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        daemon.wait()


def wait_until_it_listens(daemon: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        with suppress(subprocess.TimeoutExpired):
            daemon.wait(timeout=0.05)
            pytest.fail(f"{daemon.args!r} ended: {(folder / 'daemon.log').read_text()}")
    pytest.fail(f"{daemon.args!r} does not listen")


def children_of(pid: int) -> list[int]:
    """All descendants, deepest first."""
    with suppress(FileNotFoundError, ProcessLookupError):
        own = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [process for child in map(int, own) for process in [*children_of(child), child]]
    return []


@pytest.mark.parametrize("command", [inetd, tcpsvd, busybox])
def test_users_type_at_a_real_shell(
    command: Command, here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    with started(command, here) as port:
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
    write("shell.tape", TAPE.replace("$((6*7))", "42; exit"))
    write("plan.toml", PLAN.replace("[validity]", "[validity]\nlost_users = 1"))
    with started(busybox, here) as port:
        target = f"telnet://127.0.0.1:{port}"
        code = main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet", "--json", "-"])
    summary = json.loads(capsys.readouterr().out)
    # A failure of the host is data: each session ends, and each user calls again.
    assert code == Exit.GOOD, summary["invalid_because"]
    assert set(summary["errors"]["by_name"]) == {"closed"}
    assert summary["errors"]["by_name"]["closed"] >= 5
