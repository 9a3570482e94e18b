import resource
import socket
from pathlib import Path

import pytest

from cuesta.engine import prepare
from cuesta.engine.preflight import divide_cpus, needed_files, probe, raise_files
from cuesta.errors import CuestaError, UsageError
from cuesta.plan import Given, load


def test_descriptors_are_counted_for_the_process_that_needs_most(here: Path) -> None:
    def needed(**flags: object) -> int:
        return needed_files(prepare(load(Given(flags=flags), here)))

    assert needed(users=100) == 164
    assert needed(users=100, host={"service": "shell cat"}) == 364
    assert needed(users=100, target="tcp://127.0.0.1:9", agents=3) == 34 + 64
    assert needed(users=100, target="pty:cat") == 264


def test_too_few_descriptors_are_said_with_how_many_are_needed() -> None:
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


def test_a_target_that_refuses_or_has_no_name_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        probe(f"telnet://127.0.0.1:{port}")
    with pytest.raises(CuestaError, match=f"telnet://127.0.0.1:{port}: cannot be reached: connection refused"):
        probe(f"telnet://127.0.0.1:{port}")
    with pytest.raises(CuestaError, match="cannot be reached"):
        probe("tcp://no-such-host.invalid:23")


@pytest.mark.parametrize("command", ["emaks -nw -Q", "exec emaks", "env HOME=/ emaks", "HOME=/ /usr/bin/emaks 'x y'"])
@pytest.mark.parametrize("kind", ["pty", "pipe"])
def test_a_program_that_is_missing_is_said(kind: str, command: str) -> None:
    with pytest.raises(CuestaError, match=f"{kind}: there is no program `[/a-z]*emaks` here") as raised:
        probe(f"{kind}:{command}")
    assert raised.value.remedy is not None
    assert "install" in raised.value.remedy


@pytest.mark.parametrize(
    "command", ["cat", "exec cat", "cd / && cat", "(cat)", "$PAGER x", "'", ". ./x", "if true; then :; fi"]
)
def test_what_only_a_shell_can_tell_is_left_to_it(command: str) -> None:
    probe(f"pty:{command}")


def test_a_device_that_is_missing_is_said() -> None:
    with pytest.raises(CuestaError, match="there is no /dev/ttyNONE"):
        probe("serial:/dev/ttyNONE?baud=9600")
    probe("serial:/dev/null?baud=9600")


def test_driver_and_host_get_cpus_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    assert divide_cpus(1, 1) == ([0], [3])
    assert divide_cpus(8, 2) == ([0, 1], [2, 3])
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {5})
    with pytest.raises(UsageError, match="needs two CPUs"):
        divide_cpus(1, 1)
