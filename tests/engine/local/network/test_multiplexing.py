"""Agents of TMux at both ends of a wire: real ones, as root."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuesta.engine.local.network import multiplexing as multiplexing_module
from cuesta.engine.local.network.isolation import NetNs, NetNsPair
from cuesta.engine.local.network.multiplexing import TmuxAgent, TmuxAgents, multiplex
from cuesta.errors import CuestaError
from tests.engine.local.network.conftest import HOST
from tests.processes import command_of, descendants

HOLD = 2_000_000


SERVER = """
import socket
with socket.create_server(("198.18.0.2", 4000)) as listening:
    print("listens", flush=True)
    while True:
        line = listening.accept()[0]
        while came := line.recv(100):
            line.sendall(came)
"""
CLIENT = """
import socket
with socket.create_connection(("198.18.0.2", 4000)) as line:
    for number in range(50):
        line.sendall(b"x%d" % number)
        assert line.recv(100) == b"x%d" % number
print("echoed")
"""


@pytest.fixture
def echo(sides: NetNsPair) -> Iterator[NetNsPair]:
    """A server that echoes at the host's end."""
    with inside(sides.host, SERVER) as server:
        assert server.stdout
        assert server.stdout.readline() == "listens\n"
        yield sides
        server.kill()


def inside(side: NetNs, script: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*side.command_prefix, sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def is_echoed(sides: NetNsPair) -> bool:
    return inside(sides.driver, CLIENT).communicate(timeout=30)[0] == "echoed\n"


def devices(side: NetNs) -> set[str]:
    show = ["ip", "netns", "exec", side.namespace, "ls", "/sys/class/net"]
    return set(subprocess.check_output(show, text=True).split())


def sent(agents: TmuxAgents, side: str) -> int:
    answer = getattr(agents, side).ask("status")
    assert answer is not None
    return int(answer.status["wire"]["segments"]["sent"])


def test_all_tcp_between_the_ends_goes_through_the_agents_during_the_block(echo: NetNsPair) -> None:
    with multiplex(HOLD, echo) as agents:
        assert agents is not None
        assert is_echoed(echo)
        assert sent(agents, "driver") > 50
        assert sent(agents, "host") > 50
        assert "tmux0" in devices(echo.driver) & devices(echo.host)
        before = agents.host.ask("reset")
        assert before is not None
        assert before.cpu > 0
        assert sent(agents, "host") < 50
    assert "tmux0" not in devices(echo.driver) | devices(echo.host)
    assert is_echoed(echo)


def test_each_agent_runs_on_the_cpus_of_its_side(sides: NetNsPair) -> None:
    with multiplex(HOLD, sides) as agents:
        assert agents is not None
        assert os.sched_getaffinity(agents.host.process.pid) == {HOST}
        assert HOST not in os.sched_getaffinity(agents.driver.process.pid)


def test_without_a_hold_time_there_are_no_agents(sides: NetNsPair) -> None:
    with multiplex(None, sides) as agents:
        assert agents is None
        assert devices(sides.host) == {"lo", "wire"}


def test_traffic_goes_on_when_an_agent_is_killed(echo: NetNsPair) -> None:
    with multiplex(HOLD, echo) as agents:
        assert agents is not None
        assert is_echoed(echo)
        for agent in (agents.driver, agents.host):
            agent.process.send_signal(signal.SIGKILL)
            agent.process.wait(30)
            assert agent.ask("status") is None
        assert is_echoed(echo)


LATE = """
import sys
for request in sys.stdin:
    sys.stdin.readline()
    print('{"answer": "to the request before"}', flush=True)
"""


@pytest.fixture
def late() -> Iterator[TmuxAgent]:
    """An agent that answers a request when the next one comes."""
    command = [sys.executable, "-c", LATE]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process,
    ):
        yield TmuxAgent(process, errors)
        process.kill()


def test_an_agent_that_answers_late_is_ended(late: TmuxAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer to a request is never taken for that to the next."""
    monkeypatch.setattr(multiplexing_module, "PATIENCE", 0.2)
    assert late.ask("reset") is None
    assert late.process.wait(30) == -signal.SIGKILL
    assert late.ask("status") is None


def test_an_agent_whose_cpu_time_cannot_be_read_has_ended(late: TmuxAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: "")
    assert late.ask("status") is None


def test_an_agent_that_cannot_start_says_why(sides: NetNsPair) -> None:
    with (
        multiplex(HOLD, sides),
        pytest.raises(CuestaError, match=r"tmux: an agent did not start: .*agent"),
        multiplex(HOLD, sides),
    ):
        pass


def test_a_failure_leaves_no_agent_behind(sides: NetNsPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiplexing_module, "MODULE", "this_module_is_missing")
    with pytest.raises(CuestaError, match="No module named this_module_is_missing"), multiplex(HOLD, sides):
        pass
    assert not [pid for pid in descendants(os.getpid()) if b"this_module" in command_of(pid)]
