"""Two hosts, joined by a wire, and a third that is joined to the second: network namespaces of a test, as root.

A thread that is `inside` a namespace opens sockets, starts programs and starts agents there.
"""

import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuesta import _native
from tests import own_network
from tests.daemons import needed

NAMES = (f"tmuxtest-{os.getpid()}-{number}" for number in itertools.count())
WIRE = "wire"
"""The first host's device, and the second's to it; `other` is the second's to the third, whose device is `wire`."""
PATIENCE = 60.0
"""Seconds after which what does not happen has failed."""


@dataclass(frozen=True)
class Place:
    """A host: its namespace and its addresses."""

    namespace: str
    v4: str
    v6: str


@dataclass(frozen=True)
class Network:
    a: Place
    b: Place
    third: Place


@contextmanager
def network() -> Iterator[Network]:
    """Make the three hosts; none has an agent yet."""
    assert os.geteuid() == 0, "this test makes network namespaces and needs root"
    made = Network(
        Place(next(NAMES), "198.18.7.1", "2001:db8:7::1"),
        Place(next(NAMES), "198.18.7.2", "2001:db8:7::2"),
        Place(next(NAMES), "198.18.8.3", "2001:db8:8::3"),
    )
    places = (made.a, made.b, made.third)
    try:
        for place in places:
            ip("netns", "add", place.namespace)
            ip("-n", place.namespace, "link", "set", "lo", "up")
        _join(made.a, WIRE, made.b, WIRE, (made.a.v4, made.b.v4), (made.a.v6, made.b.v6))
        _join(made.third, WIRE, made.b, "other", (made.third.v4, "198.18.8.2"), (made.third.v6, "2001:db8:8::2"))
        yield made
    finally:
        for place in places:
            subprocess.run(["ip", "netns", "delete", place.namespace], check=False, capture_output=True)


def _join(one: Place, device: str, two: Place, other: str, v4: tuple[str, str], v6: tuple[str, str]) -> None:
    peer = ("peer", "name", other, "netns", two.namespace)
    ip("link", "add", device, "netns", one.namespace, "type", "veth", *peer)
    for place, name, number in ((one, device, 0), (two, other, 1)):
        ip("-n", place.namespace, "address", "add", f"{v4[number]}/24", "dev", name)
        ip("-n", place.namespace, "address", "add", f"{v6[number]}/64", "dev", name, "nodad")
        ip("-n", place.namespace, "link", "set", name, "up")


def forward(net: Network, mtu: int = 1500) -> None:
    """Make `b` a router between `a` and the third host, whose way to the third host carries `mtu` octets."""
    ip("netns", "exec", net.b.namespace, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
    ip("-n", net.b.namespace, "route", "replace", net.third.v4, "dev", "other", "mtu", str(mtu))
    ip("-n", net.a.namespace, "route", "add", net.third.v4, "via", net.b.v4)
    ip("-n", net.third.namespace, "route", "add", net.a.v4, "via", "198.18.8.2")


def ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


@contextmanager
def inside(place: Place) -> Iterator[None]:
    """Move this thread into the namespace."""
    with own_network.inside(Path("/run/netns", place.namespace)):
        yield


def start_agent(place: Place, *peers: str, **settings: object) -> _native.Tmux:
    """Start an agent in this process. Unlike the default, all ports are multiplexed."""
    with inside(place):
        return _native.Tmux.start(json.dumps({"peers": peers, "ports": [], **settings}))


@contextmanager
def working_agent(place: Place, *peers: str, **settings: object) -> Iterator[_native.Tmux]:
    """An agent in this process during the block."""
    agent = start_agent(place, *peers, **settings)
    try:
        yield agent
    finally:
        agent.stop()


@contextmanager
def agents(
    net: Network,
    *,
    v6: bool = False,
    other: Place | None = None,
    capture: Path | None = None,
    there: Mapping[str, object] | None = None,
    **settings: object,
) -> Iterator[tuple[_native.Tmux, _native.Tmux]]:
    """An agent at `a`, which may capture, and one at `b` or `other`, once `a` has heard it; their counters begin then.

    The other agent has the same settings, but for those of `there`.
    """
    other = other or net.b
    one, two = (net.a.v6, other.v6) if v6 else (net.a.v4, other.v4)
    with (
        working_agent(net.a, two, capture=capture and str(capture), **settings) as a,
        working_agent(other, one, **{**settings, **(there or {})}) as b,
    ):
        wait_for(lambda: status(a)["peers"][0]["state"] == "able")
        a.reset()
        b.reset()
        yield a, b


def status(agent: _native.Tmux) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(agent.status())
    return answer


def wait_for(condition: Callable[[], bool]) -> None:
    """Ask again and again until it is so; fails after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        threading.Event().wait(0.01)


@dataclass
class Process:
    """An agent in a process of its own, that can be killed."""

    process: subprocess.Popen[str]

    def ask(self, row: str) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(row + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def resident(self) -> int:
        """Its resident memory, octets."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@contextmanager
def agent_process(place: Place, *peers: str, **settings: object) -> Iterator[Process]:
    spec = json.dumps({"peers": peers, "ports": [], **settings})
    command = [sys.executable, "-m", "cuesta.engine.local.tmux_process", spec]
    with inside(place):
        started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with started as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "ready\n"
            yield Process(process)
        finally:
            process.kill()


@dataclass
class Capture:
    """What tcpdump saw on a device."""

    file: Path
    process: subprocess.Popen[str]
    counted: dict[str, int] = field(default_factory=dict)

    def end(self) -> None:
        """End it when all packets that it was given are in its file: once interrupted it reads no more of them."""
        wait_for(self._has_read_all)
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def _has_read_all(self) -> bool:
        self.process.send_signal(signal.SIGUSR1)  # it prints its counters
        assert self.process.stderr
        captured, received, dropped = map(int, re.findall(r"\d+", self.process.stderr.readline())[:3])
        assert dropped == 0
        return captured == received

    def count(self, expression: str) -> int:
        return len(rows(self.file, expression))


@contextmanager
def tcpdump(place: Place, file: Path, device: str = WIRE, expression: str = "ip or ip6") -> Iterator[Capture]:
    """Capture what crosses a device, both ways; the block ends the capture before it counts.

    The kernel's buffer has room for 32,000 packets, because each takes as much of it as the largest that is captured.
    """
    options = ["-i", device, "-w", str(file), "--immediate-mode", "-U", "-B", "65536", "-s", "2048", "-Z", "root"]
    with inside(place):
        process = subprocess.Popen([needed("tcpdump"), *options, expression], stderr=subprocess.PIPE, text=True)
    with process:
        assert process.stderr
        assert any("listening on" in row for row in process.stderr)
        try:
            yield Capture(file, process)
        finally:
            process.kill()


def rows(file: Path, expression: str = "") -> list[str]:
    """The packets of a capture as tcpdump prints them."""
    command = [needed("tcpdump"), "-n", "-r", str(file), *([expression] if expression else [])]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


@contextmanager
def server(place: Place, address: str, serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Serve each connection on a thread of its own; yields the port."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with inside(place):
        listener = socket.create_server((address, 0), family=family, backlog=1024)

    def accept() -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(line,), daemon=True).start()

    with listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def connect(place: Place, address: str, port: int, source: str = "") -> socket.socket:
    with inside(place):
        line = socket.create_connection((address, port), PATIENCE, (source, 0) if source else None)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line


def wait_until_closed(*places: Place) -> None:
    """Wait until no connection has anything to send or to receive any more."""
    states = ("established", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2", "close-wait", "last-ack", "closing")
    query = ["ss", "-tnH", *(word for each in states for word in ("state", each))]
    wait_for(lambda: not any(ip("netns", "exec", place.namespace, *query) for place in places))


def echo(line: socket.socket) -> None:
    """A server that sends back what it receives."""
    with line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while octets := line.recv(65536):
            line.sendall(octets)


def exchange(line: socket.socket, *text: bytes) -> bytes:
    """Send to a server that echoes, a write for each text, and end; returns all that came back."""
    sender = threading.Thread(target=_send, args=(line, *text))
    sender.start()
    received = bytearray()
    while octets := line.recv(65536):
        received += octets
    sender.join()
    return bytes(received)


def _send(line: socket.socket, *text: bytes) -> None:
    for each in text:
        line.sendall(each)
    line.shutdown(socket.SHUT_WR)
