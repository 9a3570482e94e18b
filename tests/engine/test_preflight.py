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


def test_driver_and_host_get_cpus_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    assert divide_cpus(1, 1) == ([0], [3])
    assert divide_cpus(8, 2) == ([0, 1], [2, 3])
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {5})
    with pytest.raises(UsageError, match="needs two CPUs"):
        divide_cpus(1, 1)
