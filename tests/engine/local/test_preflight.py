import os
import resource
import socket
from pathlib import Path

import pytest

from cuesta.engine.job import most_users_at, prepare
from cuesta.engine.local.preflight import (
    check_processes,
    check_ptys,
    count_files,
    divide_cpus,
    probe,
    raise_files,
)
from cuesta.errors import CuestaError, UsageError
from cuesta.plan import RawOptions, load


def test_descriptors_are_counted_for_the_process_that_needs_most(here: Path) -> None:
    def needed(**flags: object) -> int:
        return count_files(prepare(load(RawOptions(tape="builtin:interactive", flags=flags), here)))

    assert needed(users=100) == 164
    assert needed(users=100, host={"service": "shell cat"}) == 364
    assert needed(users=100, target="tcp://127.0.0.1:9", agents=3) == 34 + 64
    assert needed(users=100, target="pty:cat") == 264


def test_too_few_descriptors_are_refused_with_the_number_needed() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with pytest.raises(CuestaError, match=f"needs {hard + 1} file descriptors .* is {hard}") as raised:
        raise_files(hard + 1)
    assert raised.value.remedy is not None
    assert f"ulimit -Hn {hard + 1}" in raised.value.remedy


def test_the_soft_limit_is_raised_when_it_may_be() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard - 1, hard))
    try:
        raise_files(hard)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


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


def test_pseudo_terminals_are_counted(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def users_at(target: str, *kinds: str) -> int:
        return most_users_at(
            prepare(load(RawOptions(tape="builtin:interactive", flags={"users": 30, "target": target}), here)), *kinds
        )

    assert users_at("pty:cat", "pty") == users_at("pipe:cat", "pty", "pipe") == 30
    assert users_at("pipe:cat", "pty") == users_at("tcp://127.0.0.1:9", "pty", "pipe") == 0
    monkeypatch.setattr("cuesta.engine.local.preflight.PTYS", tmp_path)
    check_ptys(10**9)  # a kernel that says nothing
    (tmp_path / "max").write_text("4096\n")
    (tmp_path / "nr").write_text("96\n")
    check_ptys(4000)
    with pytest.raises(CuestaError, match="needs 4001 pseudo-terminals, and 4000 of 4096 are free") as raised:
        check_ptys(4001)
    assert raised.value.remedy == "raise it as root with `sysctl kernel.pty.max=4097`"


def test_the_limit_of_processes_is_per_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (100, 200))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    check_processes(101)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    check_processes(100)
    with pytest.raises(CuestaError, match=r"starts 101 programs, .* \(ulimit -u\) is 100"):
        check_processes(101)


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


def test_driver_and_host_get_cpus_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    assert divide_cpus(1, 1) == ([0], [3])
    assert divide_cpus(8, 2) == ([0, 1], [2, 3])
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {5})
    with pytest.raises(UsageError, match="need two CPUs"):
        divide_cpus(1, 1)
