"""Connections of the kernel's own TCP over two agents: nothing is lost or changed, whatever happens to the agents."""

import json
import random
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from tests.daemons import needed, sshd
from tests.processes import descendants, end
from tests.tmux.network import (
    WIRE,
    Network,
    Place,
    agent_process,
    agents,
    connect,
    echo,
    exchange,
    forward,
    inside,
    ip,
    server,
    start_agent,
    status,
    tcpdump,
    wait_for,
    working_agent,
)
from tests.tmux.relay import Disturbance, relayed

BULK = 4_000_000


def noise(octets: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(octets)


@pytest.mark.parametrize("v6", [False, True], ids=["v4", "v6"])
@pytest.mark.parametrize("udp_port", [None, 1692], ids=["ip", "udp"])
@pytest.mark.parametrize("delay", [0, 2_000_000], ids=["drain", "hold"])
def test_a_stream_goes_both_ways_unchanged(net: Network, v6: bool, udp_port: int | None, delay: int) -> None:
    address = net.b.v6 if v6 else net.b.v4
    with agents(net, v6=v6, udp_port=udp_port, delay=delay) as (a, b), server(net.b, address, echo) as port:
        with connect(net.a, address, port) as line:
            assert exchange(line, noise(BULK)) == noise(BULK)
        here, there = status(a)["wire"], status(b)["wire"]
    assert sum(here["plain"].values()) + sum(there["plain"].values()) <= 1  # the answer to ENQ may not be heard yet
    for wire in (here, there):
        assert wire["octets"]["sent"] > BULK
        assert not any(wire["dropped"].values())


def test_iperf3_finds_a_connection_both_ways(net: Network) -> None:
    with agents(net, delay=1_000_000) as (a, b):
        with inside(net.b):
            listening = subprocess.Popen(
                [needed("iperf3"), "-s", "-1", "--forceflush"], stdout=subprocess.PIPE, text=True
            )
        with listening, inside(net.a):
            assert listening.stdout
            assert any("listening" in row for row in listening.stdout)
            command = [needed("iperf3"), "-c", net.b.v4, "--bidir", "-t", "1", "--json"]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        sums = json.loads(done.stdout)["end"]
        sent = [status(each)["wire"]["octets"]["sent"] for each in (a, b)]
    for direction, octets in zip(("sum_received", "sum_received_bidir_reverse"), sent, strict=True):
        assert 0 < sums[direction]["bytes"] < octets


def test_many_connections_share_datagrams(net: Network) -> None:
    def typist(number: int) -> None:
        with connect(net.a, net.b.v4, port) as line:
            for key in noise(40, seed=number):
                line.sendall(bytes([key]))
                answers[number] += line.recv(1)

    answers = [b""] * 200
    with agents(net, delay=5_000_000) as (a, _), server(net.b, net.b.v4, echo) as port:
        threads = [threading.Thread(target=typist, args=(number,)) for number in range(len(answers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wire = status(a)["wire"]
    assert answers == [noise(40, seed=number) for number in range(len(answers))]
    assert wire["segments"]["sent"] > 2 * wire["messages"]["sent"]


def test_a_shell_over_telnet(net: Network, tmp_path: Path) -> None:
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\nexec /bin/sh\n")
    shell.chmod(0o755)
    with agents(net, ports=[23]) as (a, b):
        with inside(net.b):
            service = ["-l", "host", net.b.v4, "23", "/usr/sbin/telnetd", "-h", "-E", str(shell)]
            daemon = subprocess.Popen([needed("tcpsvd"), "-E", *service])
        try:
            wait_for(lambda: ip("netns", "exec", net.b.namespace, "ss", "-ltH", "sport = 23") != "")
            assert b"42\r" in typed_over_telnet(net, b"echo $((6 * 7))\n", until=b"42\r")
        finally:
            end([*descendants(daemon.pid), daemon.pid])
            daemon.wait()
        for agent in (a, b):
            assert status(agent)["wire"]["segments"]["sent"] > 5


def typed_over_telnet(net: Network, text: bytes, until: bytes) -> bytes:
    """What a client shows until it has shown `until`."""
    with inside(net.a):
        command = [needed("busybox"), "telnet", net.b.v4]
        client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    with client:
        assert client.stdin
        assert client.stdout
        client.stdin.write(text)
        shown = b""
        while until not in shown and (character := client.stdout.read(1)):
            shown += character
        client.kill()
    return shown


def test_a_command_over_ssh(net: Network, tmp_path: Path) -> None:
    with agents(net, delay=1_000_000) as (a, b), inside(net.b), sshd(tmp_path, f"ListenAddress {net.b.v4}") as host:
        options = ["-i", f"{tmp_path}/client", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
        with inside(net.a):
            command = [needed("ssh"), *options, "-p", str(host.port), net.b.v4, "cat"]
            done = subprocess.run(command, input=noise(500_000), capture_output=True, check=True)
        assert done.stdout == noise(500_000)
        assert status(a)["wire"]["octets"]["sent"] > 500_000
        assert status(b)["wire"]["octets"]["sent"] > 500_000


def test_a_host_without_tmux_is_reached_as_before(net: Network, tmp_path: Path) -> None:
    with working_agent(net.a, net.b.v4) as agent:
        wait_for(lambda: status(agent)["peers"][0]["state"] == "refused")
        with tcpdump(net.b, tmp_path / "wire.pcap") as seen, server(net.b, net.b.v4, echo) as port:
            with connect(net.a, net.b.v4, port) as line:
                assert exchange(line, noise(BULK)) == noise(BULK)
            seen.end()
        wire = status(agent)["wire"]
    assert seen.count("ip proto 18") == 0
    assert wire["messages"]["sent"] == 0
    assert wire["plain"]["peer_unable"] == seen.count(f"tcp and src {net.a.v4}")


@pytest.mark.parametrize("victim", ["a", "b"])
def test_a_connection_outlives_an_agent_that_is_killed(net: Network, victim: str) -> None:
    """And the next agent takes it over: it finds the rules that were left, and replaces them."""
    a, b = net.a, net.b
    with agent_process(a, b.v4, delay=1_000_000) as one, agent_process(b, a.v4, delay=1_000_000) as two:
        wait_for(lambda: one.ask("status")["peers"][0]["state"] == "able")
        place, agent = (a, one) if victim == "a" else (b, two)
        with server(b, b.v4, echo) as port, connect(a, b.v4, port) as line:
            line.sendall(b"before")
            assert line.recv(6) == b"before"
            assert two.ask("status")["wire"]["segments"]["received"] > 0
            whole = noise(BULK)
            exchanged: list[bytes] = []
            mover = threading.Thread(target=lambda: exchanged.append(exchange(line, whole)))
            mover.start()
            wait_for(lambda: agent.ask("status")["wire"]["octets"]["sent"] > BULK // 10)
            agent.process.kill()
            agent.process.wait()
            mover.join()
        assert exchanged == [whole]
        left = ip("-n", place.namespace, "rule")
        assert "lookup 1692" in left
        start_agent(place, (b if victim == "a" else a).v4).stop()
        assert "1692" not in ip("-n", place.namespace, "rule")


@pytest.mark.parametrize(("here", "there"), [(576, 1500), (1500, 576)])
def test_hosts_with_different_mtus(net: Network, tmp_path: Path, here: int, there: int) -> None:
    with (
        agents(net, mtu=here, there={"mtu": there}),
        tcpdump(net.b, tmp_path / "wire.pcap") as seen,
        server(net.b, net.b.v4, echo) as port,
    ):
        with connect(net.a, net.b.v4, port) as line:
            assert exchange(line, noise(BULK)) == noise(BULK)
        seen.end()
    for place, mtu in ((net.a, here), (net.b, there)):
        messages = f"ip proto 18 and src {place.v4}"
        assert seen.count(messages) > 100
        assert seen.count(f"{messages} and ip[2:2] > {mtu}") == 0


def test_a_router_that_carries_less_is_learned_of(net: Network, tmp_path: Path) -> None:
    """Messages become smaller by the router's ICMP, and TCP's segments above them go plain, so that TCP learns too."""
    forward(net, mtu=1400)
    with agents(net, other=net.third, delay=1_000_000) as (a, third):
        with tcpdump(net.third, tmp_path / "wire.pcap") as seen, server(net.third, net.third.v4, echo) as port:
            with connect(net.a, net.third.v4, port) as line:
                assert exchange(line, noise(BULK)) == noise(BULK)
            seen.end()
        here, there = status(a), status(third)
    assert (here["peers"][0]["mtu"], there["peers"][0]["mtu"]) == (1400, 1500)
    assert here["wire"]["changes"]["smaller_mtu"] > 0
    assert here["wire"]["plain"]["over_mtu"] > 0
    assert seen.count(f"ip proto 18 and src {net.a.v4}") > 10
    assert seen.count(f"src {net.a.v4} and ip[2:2] > 1400") == 0


@pytest.mark.parametrize("v6", [False, True], ids=["v4", "v6"])
def test_a_device_that_carries_less_from_now_on(net: Network, v6: bool) -> None:
    address = net.b.v6 if v6 else net.b.v4
    with agents(net, v6=v6, delay=1_000_000) as (a, _), server(net.b, address, echo) as port:
        with connect(net.a, address, port) as line:
            assert exchange_some(line, noise(BULK // 10)) == noise(BULK // 10)
            for place in (net.a, net.b):
                ip("-n", place.namespace, "link", "set", WIRE, "mtu", "1300")
            assert exchange(line, noise(BULK)) == noise(BULK)
        here = status(a)
    assert here["peers"][0]["mtu"] == 1280
    assert here["endpoint"]["dropped"]["too_large"] > 0


def exchange_some(line: socket.socket, text: bytes) -> bytes:
    """Send `text` to a server that echoes; returns as much as it sent."""
    sender = threading.Thread(target=line.sendall, args=(text,))
    sender.start()
    received = bytearray()
    while len(received) < len(text) and (octets := line.recv(65536)):
        received += octets
    sender.join()
    return bytes(received)


def test_a_peer_that_vanishes_without_icmp_costs_three_messages_and_three_seconds(net: Network) -> None:
    a, b = net.a, net.b
    ip("-n", b.namespace, "rule", "add", "pref", "1", "ipproto", "icmp", "blackhole")
    for place in (a, b):
        retransmit_each_second(place)
    with agent_process(b, a.v4) as there, working_agent(a, b.v4) as here:
        wait_for(lambda: status(here)["peers"][0]["state"] == "able")
        with server(b, b.v4, echo) as port, connect(a, b.v4, port) as line:
            line.sendall(b"before")
            assert line.recv(6) == b"before"
            there.process.kill()
            there.process.wait()
            assert exchange(line, noise(100_000)) == noise(100_000)
        ended = status(here)
    assert (ended["peers"][0]["state"], ended["wire"]["changes"]["silent"]) == ("silent", 1)


def retransmit_each_second(place: Place) -> None:
    """Let TCP wait for no longer; a kernel before 6.15 does not know how, and the test takes it 20 s."""
    ip("netns", "exec", place.namespace, "sysctl", "-e", "-q", "-w", "net.ipv4.tcp_rto_max_ms=1000")


@pytest.mark.parametrize("kernel_receive", [False, True], ids=["agent", "kernel"])
def test_a_stream_goes_unchanged_over_a_wire_that_loses_doubles_and_reorders(
    net: Network, kernel_receive: bool
) -> None:
    wire = Disturbance(seed=1692)
    with (
        relayed(net, wire),
        agents(net, delay=1_000_000, kernel_receive=kernel_receive),
        server(net.b, net.b.v4, echo) as port,
        connect(net.a, net.b.v4, port) as line,
    ):
        assert exchange(line, noise(BULK // 10)) == noise(BULK // 10)
    assert all(wire.done[kind] > 0 for kind in ("passed", "lost", "doubled", "delayed")), wire.done


@pytest.mark.parametrize(
    ("kernel_receive", "rfc_bypass"), [(False, False), (True, False), (False, True)], ids=["agent", "kernel", "rfc"]
)
def test_whole_connections_in_messages_are_not_reordered(net: Network, kernel_receive: bool, rfc_bypass: bool) -> None:
    """By the kernel's own counters; large segments that go past the messages are, as the RFC has them."""
    with agents(net, delay=2_000_000, kernel_receive=kernel_receive, rfc_bypass=rfc_bypass) as (a, b):
        before = [out_of_order(place) for place in (net.a, net.b)]
        with server(net.b, net.b.v4, echo) as port:
            threads = [threading.Thread(target=mixed_writes, args=(net, port, seed)) for seed in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        after = [out_of_order(place) for place in (net.a, net.b)]
        plain = sum(status(each)["wire"]["plain"]["large"] for each in (a, b))
    assert (plain > 0) == rfc_bypass
    assert (after != before) == rfc_bypass, after


def mixed_writes(net: Network, port: int, seed: int) -> None:
    """Small and large writes in turn, without a wait for their echo."""
    dice = random.Random(seed)
    text = [dice.randbytes(dice.choice((1, 1, 7, 60, 900, 1400))) for _ in range(300)]
    with connect(net.a, net.b.v4, port) as line:
        assert exchange(line, *text) == b"".join(text)


def out_of_order(place: Place) -> list[int]:
    """Segments that TCP has queued because one before them was missing, and reorderings that it has found."""
    with inside(place):
        names, counts = Path("/proc/thread-self/net/netstat").read_text().splitlines()[:2]
    counted = dict(zip(names.split(), counts.split(), strict=True))
    return [int(counted[name]) for name in ("TCPOFOQueue", "TCPSACKReorder", "TCPDSACKOfoRecv")]
