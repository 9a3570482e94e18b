"""Driver and host in separate network namespaces. These tests create real ones, as root, on two CPUs."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.engine.job import prepare
from cuesta.engine.local.network import isolation
from cuesta.engine.local.network.isolation import NetNs, NetNsPair, check, check_privileges, link_namespaces, mask
from cuesta.errors import CuestaError, Exit, UsageError
from cuesta.plan import RawOptions, load
from tests.cli.test_run import running
from tests.engine.local.network.conftest import DRIVER, HOST
from tests.processes import command_of, descendants

SHORT = ["--users", "4", "--stagger", "50ms", "--settle", "500ms", "--measure", "1s", "--quiet"]


def left() -> list[str]:
    """The existing namespaces that have this process's names; concurrent runs have other names."""
    return sorted(path.name for path in isolation.NAMESPACES.glob(f"cuesta-{os.getpid()}-*"))


@pytest.fixture
def sides() -> Iterator[NetNsPair]:
    assert os.geteuid() == 0, "this test creates network namespaces and needs root"
    with link_namespaces([DRIVER], [HOST]) as made:
        yield made
    assert left() == []


def inside(side: NetNs, command: list[str], **given: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([*side.command_prefix, *command], stdout=subprocess.PIPE, text=True, **given)


SERVER = """
import socket
with socket.create_server(("198.18.0.2", 0)) as listening:
    print(listening.getsockname()[1], flush=True)
    line = listening.accept()[0]
    while came := line.recv(1):
        line.sendall(came)
    print(line.getsockopt(socket.SOL_SOCKET, 49))
"""
CLIENT = """
import socket, sys
line = socket.create_connection(("198.18.0.2", int(sys.argv[1])))
for _ in range(50):
    line.sendall(b"x")
    line.recv(1)
print(line.getsockopt(socket.SOL_SOCKET, 49))
"""
"""49 is SO_INCOMING_CPU: the CPU that the kernel received the socket's last packet on."""


def test_each_side_receives_on_its_own_cpu(sides: NetNsPair) -> None:
    with inside(sides.host, [sys.executable, "-c", SERVER]) as server:
        assert server.stdout
        port = server.stdout.readline().strip()
        with inside(sides.driver, [sys.executable, "-c", CLIENT, port]) as client:
            at_driver = client.communicate(timeout=30)[0].strip()
        at_host = server.communicate(timeout=30)[0].strip()
    assert (at_driver, at_host) == (str(DRIVER), str(HOST))


def test_packets_are_steered_and_the_host_has_its_own_cpu(sides: NetNsPair) -> None:
    for side, cpu in ((sides.driver, DRIVER), (sides.host, HOST)):
        show = ["ip", "netns", "exec", side.namespace, "cat", "/sys/class/net/wire/queues/rx-0/rps_cpus"]
        assert int(subprocess.check_output(show, text=True).replace(",", ""), 16) == 1 << cpu
        where = [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"]
        own = inside(side, where).communicate(timeout=30)[0].split()
        assert (str(HOST) in own) == (side is sides.host)
        assert side is sides.driver or own == [str(HOST)]


def test_leftovers_of_a_dead_engine_are_removed() -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    stale = f"cuesta-{ended.pid}-host"
    subprocess.run(["ip", "netns", "add", stale], check=True)
    with link_namespaces([DRIVER], [HOST]):
        assert not (isolation.NAMESPACES / stale).exists()
        assert len(left()) == 2
    assert left() == []


def test_a_failure_half_way_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.sched_getaffinity(0)
    monkeypatch.setattr(isolation, "ADDRESSES", ("198.18.0.1", "no address"))
    with (
        pytest.raises(CuestaError, match=r"`ip -n cuesta-\d+-host address add .* failed"),
        link_namespaces([DRIVER], [HOST]),
    ):
        pass
    assert (left(), os.sched_getaffinity(0)) == ([], before)


@pytest.mark.usefixtures("here")
def test_an_isolated_run_says_so_and_leaves_nothing_behind(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    assert main(["run", *SHORT, "--isolate", "--json", "-", "--out", "out"]) in (Exit.GOOD, Exit.INVALID)
    summary = json.loads(capsys.readouterr().out)
    assert summary["transactions"]["count"] > 0
    assert summary["errors"]["count"] == 0
    meters = summary["host"]["meters"]
    assert (meters["order"], summary["host"]["sheet"]["cpus"]) == (2, [HOST])
    placed = json.loads((here / "out/run.json").read_text())["placed"]
    assert placed["driver"]["network"]["receiving"] == placed["driver"]["cpus"] == [DRIVER]
    assert placed["host"]["network"]["receiving"] == placed["host"]["cpus"] == [HOST]
    assert json.loads((here / "out/host/host.json").read_text())["address"].startswith("telnet://198.18.0.2:")
    assert left() == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.usefixtures("here")
def test_an_interrupted_isolated_run_leaves_nothing_behind(how: signal.Signals) -> None:
    with running(*SHORT[:-1], "--measure", "60s", "--isolate", "--meters", "none", "--out", "out") as process:
        names = [f"cuesta-{process.pid}-{which}" for which in ("driver", "host")]
        assert all((isolation.NAMESPACES / name).exists() for name in names)
        (supervisor,) = (pid for pid in descendants(process.pid) if b"netns" in command_of(pid))
        ended = os.pidfd_open(supervisor)
        process.send_signal(how)
        process.communicate(timeout=30)
        assert ends(ended), "the supervisor must delete the namespaces and end"
    assert not any((isolation.NAMESPACES / name).exists() for name in names)


def ends(process: int) -> bool:
    ready = select.select([process], [], [], 30)[0]
    os.close(process)
    return bool(ready)


def test_missing_privileges_are_reported(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name:\tcuesta\nCapEff:\t0000000000001000\n")
    with pytest.raises(CuestaError, match=r"may not \(CAP_SYS_ADMIN missing\)") as raised:
        check_privileges(tmp_path / "status")
    assert raised.value.exit == Exit.FAILED
    assert raised.value.remedy == "run it as root; or --pin alone, which keeps the CPUs apart but not the network"
    (tmp_path / "status").write_text("CapEff:\t0000000000201000\n")
    check_privileges(tmp_path / "status")


def test_hosts_that_cuesta_does_not_start_cannot_be_isolated(here: Path) -> None:
    job = prepare(
        load(RawOptions(tape="builtin:interactive", flags={"isolate": True, "target": "tcp://127.0.0.1:9"}), here)
    )
    with pytest.raises(UsageError, match=r"only the built-in host .* not tcp://127\.0\.0\.1:9"):
        check(job)


def test_a_missing_program_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "PROGRAMS", {"no-such-ip": "iproute2"})
    with pytest.raises(CuestaError, match="--isolate needs `no-such-ip`"):
        check(prepare(load(RawOptions(flags={"isolate": True}), here)))


def test_a_program_that_deferral_needs_is_named_where_it_is_used(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "DEFERRAL_PROGRAMS", {"no-such-ethtool": "ethtool"})
    check(prepare(load(RawOptions(flags={"isolate": True}), here)))
    with pytest.raises(CuestaError, match="defer needs `no-such-ethtool`") as raised:
        check(prepare(load(RawOptions(flags={"isolate": True, "defer": "5ms"}), here)))
    assert raised.value.remedy == "apt-get install ethtool"


@pytest.mark.parametrize(
    ("cpus", "text"), [([0], "00000001"), ([1, 3], "0000000a"), ([0, 32, 65], "00000002,00000001,00000001")]
)
def test_cpu_lists_have_the_format_of_the_kernel(cpus: list[int], text: str) -> None:
    assert mask(cpus) == text
