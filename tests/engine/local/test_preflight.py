import socket
from pathlib import Path

import pytest

from cuesta.engine.count_needs import count_needs
from cuesta.engine.job import Job, prepare
from cuesta.engine.local.preflight import add_host, check, divide_cpus
from cuesta.errors import CuestaError, UsageError
from cuesta.plan import RawOptions, load


def job(here: Path, **flags: object) -> Job:
    return prepare(load(RawOptions(tape="builtin:interactive", flags=flags), here))


def test_descriptors_are_those_of_the_process_that_needs_most(here: Path) -> None:
    def needed(**flags: object) -> int:
        planned = job(here, **flags)
        return add_host(count_needs(planned), planned).descriptors

    assert needed(users=100) == needed(users=100, agents=3) == 164
    assert needed(users=100, host={"service": "shell cat"}) == 364
    assert needed(users=100, target="tcp://127.0.0.1:9", agents=3) == 34 + 64
    assert needed(users=100, target="pty:cat") == 264


def test_all_that_a_run_lacks_is_told_at_once(here: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    plan = here / "plan.toml"
    groups = (f"tcp://127.0.0.1:{port}", "pty:no-such-program -x", "pty:cat")
    plan.write_text(
        'tape = "builtin:interactive"\n'
        + "".join(f'[[group]]\nname = "g{at}"\ntarget = "{each}"\n' for at, each in enumerate(groups))
    )
    with pytest.raises(CuestaError) as raised:
        check(prepare(load(RawOptions(plan=plan), here)))
    assert str(raised.value).splitlines() == [
        "the run cannot start, for 2 reasons:",
        f"  tcp://127.0.0.1:{port}: cannot be reached: connection refused",
        "    check its address and that it is running, or leave --target out for the built-in host",
        "  pty: there is no program `no-such-program` here",
        "    install `no-such-program` on this machine, or type at another host: --target URL",
    ]
    assert raised.value.remedy is None


def test_driver_and_host_get_cpus_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    assert divide_cpus(1, 1) == ([0], [3])
    assert divide_cpus(8, 2) == ([0, 1], [2, 3])
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {5})
    with pytest.raises(UsageError, match="need two CPUs"):
        divide_cpus(1, 1)
