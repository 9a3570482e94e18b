"""Login screens of real hosts, compared: the runs end before a key is measured, and the screen is told."""

import shutil
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.conftest import Cuesta
from tests.daemons import AT_A_SHELL, SHELL, Command, busybox, inetd, sshd, telnetd

SECOND_FACTOR = "ForceCommand printf 'One-time password (OATH) for ann: '; stty -echo; read code"


def login(_: Path, port: int, folder: Path) -> list[str]:
    """A telnet daemon with the machine's own login program, which echoes the user's name."""
    return busybox(Path(shutil.which("login") or "/bin/login"), port, folder)


def is_not_valid(cuesta: Cuesta, target: str, row: str) -> None:
    """Compare a target with itself without a tape; it must be told as a login screen that ends in this text."""
    compared = cuesta("compare", target, target, "--out", "runs", "--quiet").ends(Exit.INVALID)
    text = " ".join(compared.out.split())
    assert "NOT VALID" in text
    assert "the program shows a login screen: `" in text
    assert row in text


def test_a_telnet_login_that_echoes_is_told_as_a_login_screen(here: Path, cuesta: Cuesta) -> None:
    with telnetd(login, here) as port:
        is_not_valid(cuesta, f"telnet://127.0.0.1:{port}", "login:`")


def test_a_second_factor_behind_ssh_is_told_as_a_login_screen(here: Path, cuesta: Cuesta) -> None:
    with sshd(here, SECOND_FACTOR) as host:
        is_not_valid(cuesta, host.target, "`One-time password (OATH) for ann:`")


@pytest.mark.nightly
@pytest.mark.parametrize("command", [inetd, busybox])
def test_two_telnet_hosts_are_compared(command: Command, here: Path, cuesta: Cuesta) -> None:
    with telnetd(command, here, SHELL) as port:
        is_judged(cuesta, f"telnet://127.0.0.1:{port}")


@pytest.mark.nightly
def test_two_ssh_hosts_are_compared(here: Path, cuesta: Cuesta) -> None:
    with sshd(here, AT_A_SHELL) as host:
        is_judged(cuesta, host.target)


def is_judged(cuesta: Cuesta, target: str) -> None:
    """Compare a target with itself: keys are timed, and it is not worse for certain."""
    terms = ("--budget", "1m", "--margin", "100ms", "--out", "runs", "--quiet", "--json", "-")
    compared = cuesta("compare", target, target, *terms).json
    assert compared["verdict"] in {"no worse", "cannot tell"}, compared
