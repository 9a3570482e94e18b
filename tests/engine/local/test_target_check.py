import os
import socket
from pathlib import Path

import pytest

from cuesta.engine.local.target_check import find_target_lacks, probe, resolve
from cuesta.engine.node_needs import Lack, TargetNeeds
from cuesta.errors import CuestaError


def test_a_target_that_refuses_or_has_no_name_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        probe(f"telnet://127.0.0.1:{port}", {})
    with pytest.raises(CuestaError, match=f"telnet://127.0.0.1:{port}: cannot be reached: connection refused"):
        probe(f"telnet://127.0.0.1:{port}", {})
    with pytest.raises(CuestaError, match="cannot be reached"):
        probe("tcp://no-such-host.invalid:23", {})


def test_a_command_that_begins_with_options_is_left_to_the_shell() -> None:
    for command in ("env -u FOO true", "env -i PATH=/bin true", "exec true", "A=b exec env C=d true", "cd / && true"):
        probe(f"pty:{command}", {})
    for command in ("no-such-program -x", "exec env A=b no-such-program"):
        with pytest.raises(CuestaError, match="there is no program `no-such-program` here"):
            probe(f"pty:{command}", {})


@pytest.mark.parametrize("command", ["emaks -nw -Q", "exec emaks", "env HOME=/ emaks", "HOME=/ /usr/bin/emaks 'x y'"])
@pytest.mark.parametrize("kind", ["pty", "pipe"])
def test_a_missing_program_is_reported(kind: str, command: str) -> None:
    with pytest.raises(CuestaError, match=f"{kind}: there is no program `[/a-z]*emaks` here") as raised:
        probe(f"{kind}:{command}", {})
    assert raised.value.remedy is not None
    assert "install" in raised.value.remedy


@pytest.mark.parametrize(
    "command", ["cat", "exec cat", "cd / && cat", "(cat)", "$PAGER x", "'", ". ./x", "if true; then :; fi"]
)
def test_commands_that_only_a_shell_can_read_are_not_checked(command: str) -> None:
    probe(f"pty:{command}", {})


def test_a_device_that_cannot_be_opened_is_reported() -> None:
    with pytest.raises(CuestaError, match="/dev/ttyNONE"):
        probe("serial:/dev/ttyNONE?baud=9600", {})
    with pytest.raises(CuestaError, match="/dev/null"):
        probe("serial:/dev/null?baud=9600", {})
    ours, theirs = os.openpty()
    probe(f"serial:{os.ttyname(theirs)}?baud=9600", {})
    os.close(ours)
    os.close(theirs)


def test_files_that_a_target_names_are_told_all_at_once(here: Path) -> None:
    """Where no login can be tried, because it would take a one-time code, and where one fails."""
    target = f"ssh://127.0.0.1:9?config=none&agent=off&identity={here}/one&identity={here}/two&known_hosts={here}/known"
    for user in ({"code": "123456"}, {}):
        told = [lack.what for lack in find_target_lacks(TargetNeeds(target, 1, user))]
        assert len(told) == 3
        for what, file in zip(told, ("known", "one", "two"), strict=True):
            assert what.startswith(f"{target}: ")
            assert str(here / file) in what
    accepting = f"ssh://127.0.0.1:9?config=none&known_hosts=accept-new&known_hosts={here}/known"
    assert list(find_target_lacks(TargetNeeds(accepting, 1, {"code": "123456"}))) == []
    (lack,) = find_target_lacks(TargetNeeds(f"telnets://127.0.0.1:9?certificate={here}/ca%20.pem", 1, {}))
    assert lack.what.endswith(f"{here}/ca .pem cannot be used: No such file or directory")


def test_a_name_is_looked_up_where_no_login_is_tried() -> None:
    assert resolve("ssh://localhost:7?config=none", {}) >= {("127.0.0.1", 7)}
    (lack,) = find_target_lacks(TargetNeeds("ssh://no-such-host.invalid?config=none", 1, {"totp": "MFRGG"}))
    assert "cannot be reached" in lack.what


def test_lines_are_opened_to_the_first_jump_host_or_by_a_command(here: Path) -> None:
    (here / "config").write_text("Host far\n  ProxyCommand nc %h %p\nHost near\n  HostName 127.0.0.2\n  Port 2022\n")
    assert resolve(f"ssh://far?config={here}/config", {}) == set()
    assert resolve(f"ssh://near?config={here}/config", {}) == {("127.0.0.2", 2022)}
    jumps = f"ssh://far2?config={here}/config&jump=joe@127.0.0.3:24,near"
    assert resolve(jumps, {}) == {("127.0.0.3", 24)}
    assert resolve("pty:cat", {}) == resolve("serial:/dev/ttyS9", {}) == resolve("host:", {}) == set()


def test_nothing_of_the_built_in_host_is_tried() -> None:
    assert list[Lack](find_target_lacks(TargetNeeds("host:", 1, {}))) == []
